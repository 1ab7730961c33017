import { type ChildProcess, spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import { withDeadline } from '../../../platform/runtime/with-deadline.js';
import type { Environment } from '../../../platform/settings/environment.js';

/** How to start a program. */
export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Its working folder; undefined for the gateway's. */
  readonly cwd: string | undefined;
  /** The same as the program sees it; undefined when it has none of its own. */
  readonly folder?: string | undefined;
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What it can read from file descriptor 4. */
  readonly fourthFile?: Uint8Array;
  /** Called once, when the process and its group are gone. */
  readonly onEnd?: () => void;
}

export interface ChildLimits {
  /** Data memory of one process, in MiB; 0 for no limit. */
  readonly memoryMb: number;
  /** Open files of one process; 0 for no limit. */
  readonly files: number;
  /** The `cgroup.procs` files of the control groups that it is to join. */
  readonly groups: readonly string[];
}

/**
 * A small watchdog process runs beside the program in the same group. The gateway holds the other end of file descriptor
 * 3; when that closes, because the gateway is gone for any reason, the watchdog kills the group. The memory limit is on
 * data (`ulimit -d`), not on address space, because JavaScript engines reserve far more addresses than they use. The
 * `oom_score_adj` makes the kernel end a tool server first when the machine runs out of memory.
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

/** The same program under limits, ending with the gateway. It must be started as the leader of a process group. */
export function boundCommand(command: ChildCommand, { memoryMb, files, groups }: ChildLimits): ChildCommand {
  const { file, args } = command;
  const limits = [memoryMb, files, groups.length].map(String);
  return {
    ...command,
    file: '/bin/sh',
    args: ['-c', SCRIPT, 'mcp-child', ...limits, ...groups, file, ...args],
  };
}

/** The variables that children inherit: the MCP SDK's own list for POSIX systems. */
const INHERITED = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

/** The part of the gateway's environment that every child gets. */
export function childEnvironment(environment: Environment): Readonly<Record<string, string>> {
  const entries = INHERITED.flatMap((name): [string, string][] => {
    const value = environment.lookup(name);
    // An exported shell function is a program, not a value.
    return value === undefined || value.startsWith('()') ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/** How long a child may take to end after its standard input is closed, and then after SIGTERM, before SIGKILL. */
const STDIN_CLOSE_MS = 500;
const SIGTERM_MS = 1500;
/** After its end, its last output is read for this long. */
const OUTPUT_GRACE_MS = 200;

/** One child process and its process group, which ends with it. */
export class GroupedChild {
  readonly process: ChildProcess;
  /** Resolves with how the child ended, or why it could not be started, in words. Never rejects. */
  readonly ended: Promise<string>;
  private over = false;

  constructor({ file, args, cwd, env, fourthFile, onEnd }: ChildCommand) {
    this.process = spawn(file, args, {
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      // File descriptor 3 is open as long as the gateway lives.
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', ...(fourthFile === undefined ? [] : (['pipe'] as const))],
      // A session and a group of its own: our signals reach its children too, and a terminal's reach none of them.
      detached: true,
    });
    for (const stream of this.process.stdio) stream?.on('error', () => undefined);
    if (fourthFile !== undefined) handOver(this.process.stdio[4], fourthFile);
    this.ended = new Promise((resolve) => {
      this.process.once('error', (error) => resolve(`it could not be started: ${error.message}`));
      this.process.once('exit', (code, signal) => resolve(endingText(code, signal)));
    });
    void this.ended.then(() => this.sweep()).then(onEnd);
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** Closes its input, then sends SIGTERM, then SIGKILL. Resolves when it has ended. */
  async end(): Promise<void> {
    this.process.stdin?.end();
    if (await this.endsWithin(STDIN_CLOSE_MS)) return;
    this.signal('SIGTERM');
    if (await this.endsWithin(SIGTERM_MS)) return;
    await this.kill();
  }

  /** Kills it and its whole group now. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  private async endsWithin(ms: number): Promise<boolean> {
    await withDeadline(this.ended, ms, () => undefined);
    return this.over;
  }

  /** Kills what the child started and left behind, so that nothing holds our pipes open. */
  private sweep(): void {
    this.over = true;
    this.signal('SIGKILL');
    const timer = setTimeout(() => {
      for (const stream of this.process.stdio) stream?.destroy();
    }, OUTPUT_GRACE_MS);
    this.process.once('close', () => clearTimeout(timer));
  }

  private signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // The group is empty already.
    }
  }
}

function handOver(pipe: ChildProcess['stdio'][4], bytes: Uint8Array): void {
  if (pipe instanceof Writable) pipe.end(bytes);
}

function endingText(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `it exited with code ${String(code)}` : `it was ended by ${signal}`;
}
