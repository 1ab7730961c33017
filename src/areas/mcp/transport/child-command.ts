/** A program as it is to be started. */
export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The folder it runs in; undefined for that of the gateway. */
  readonly cwd: string | undefined;
  /** Everything it finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What it finds in file 4; undefined when it has none. */
  readonly fourthFile?: Uint8Array;
  /** Called once, when nothing of it is left. */
  readonly onEnd?: () => void;
}

export interface ChildLimits {
  /** Data memory of one process in MiB; 0 for no limit. */
  readonly memoryMb: number;
  /** Open files of one process; 0 for no limit. */
  readonly files: number;
  /** The `cgroup.procs` files of the control groups that it joins. */
  readonly groups: readonly string[];
}

/**
 * Beside the program waits one small process of the same group: when file 3, whose other end is the gateway's, closes,
 * because the gateway is gone in whatever way, it ends the group. A data limit and not an address space limit: JavaScript
 * engines reserve far more addresses than they use. When the machine runs out of memory, it is a tool server that goes.
 */
const SCRIPT = `
ulimit -c 0
if [ "$1" -gt 0 ]; then ulimit -d "$(($1 * 1024))" || exit 125; fi
if [ "$2" -gt 0 ]; then ulimit -n "$2" || exit 125; fi
( trap '' TERM INT HUP; exec </dev/null >/dev/null 2>&1 4<&-; read -r gone <&3; kill -s KILL -- "-$$" ) &
( echo 1000 >"/proc/$$/oom_score_adj" ) 2>/dev/null
count=$3
shift 3
while [ "$count" -gt 0 ]; do echo "$$" >"$1" || exit 125; shift; count=$((count - 1)); done
exec "$@" 3<&-`;

/** The same program under limits and bound to the gateway's life; it must be started as the leader of a group. */
export function boundCommand(command: ChildCommand, { memoryMb, files, groups }: ChildLimits): ChildCommand {
  const { file, args } = command;
  const limits = [memoryMb, files, groups.length].map(String);
  return {
    ...command,
    file: '/bin/sh',
    args: ['-c', SCRIPT, 'mcp-child', ...limits, ...groups, file, ...args],
  };
}
