import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pauses } from './eventually.js';

/** How a process ended, and everything it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `bin/agent-gateway.js serve`, as a person would run it. */
export interface GatewayProcess {
  readonly pid: number;
  /** Standard output so far. */
  output(): string;
  /** Base URLs as the log names them. */
  readonly a: string;
  readonly b: string;
  readonly operations: string;
  /** The token that this start created, read from its file; undefined when it created none. */
  readonly token: string | undefined;
  /** The lines to paste that are shown with the token; empty without one. */
  readonly pasteLines: string;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

/** A gateway with a terminal, as a person starts it. */
export interface GatewayOnTerminal {
  /** The terminal's contents so far. */
  screen(): string;
  /**
   * Presses Ctrl-C.
   * @returns the exit code
   */
  interrupt(): Promise<number | null>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory; by default the project's folder. */
  readonly cwd?: string;
  /** The checkout whose command runs; by default this one. */
  readonly checkout?: string;
  readonly uid?: number;
  /** Starts it through `npm start`: the pid and the signals are then npm's. */
  readonly npm?: true;
  /** Called with the process before it serves, so that a test can kill it while it starts. */
  readonly onBegin?: (process: BegunProcess) => void;
}

export type BegunProcess = Pick<GatewayProcess, 'pid' | 'kill' | 'ended'>;

const ROOT = process.cwd();
const START_LIMIT_MS = 90_000;
/** Also without a grace period, since no load balancer has to notice a stop. */
const FREE_PORTS = {
  GATEWAY__GATEWAY__DRAIN_GRACE_MS: '0',
  GATEWAY__GATEWAY__PORT: '0',
  GATEWAY__GATEWAY__PROFILE_A_PORT: '0',
  GATEWAY__GATEWAY__MANAGEMENT_PORT: '0',
};

/** Several gateways of several test files share a server with 50 connections. */
export const FEW_CONNECTIONS = { GATEWAY__DATABASE__POOL_SIZE: '5' };

/** Folders and processes of one story, which `clear` removes. */
export class ProcessBench {
  private readonly children: ChildProcess[] = [];
  private readonly folders: string[] = [];

  /** A new folder with a path short enough for a socket. */
  async folder(prefix = 'agw-'): Promise<string> {
    const folder = await mkdtemp(join('/tmp', prefix));
    this.folders.push(folder);
    return folder;
  }

  /** Runs one command until it exits. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return ending(this.spawnGateway(args, options)).ended;
  }

  /** Starts one command, which ends by itself or by a signal. */
  begin(args: readonly string[], options: RunOptions = {}): Pick<GatewayProcess, 'kill' | 'ended'> {
    const child = this.spawnGateway(args, options);
    return { kill: (signal) => void child.kill(signal), ended: ending(child).ended };
  }

  /** Starts a gateway on free ports and waits for its log line. Rejects with its output when it exits before. */
  async serve(options: RunOptions = {}): Promise<GatewayProcess> {
    const env = { ...FREE_PORTS, ...(options.env?.DATABASE_URL && FEW_CONNECTIONS), ...options.env };
    const child = this.spawnGateway(['serve'], { ...options, env });
    const { output, ended } = ending(child);
    const facts: BegunProcess = { pid: pidOf(child), ended, kill: (signal) => void child.kill(signal) };
    options.onBegin?.(facts);
    await untilStarted(ended, () => runningLine(output()) !== undefined);
    return { ...facts, output, ...startFacts(output()) };
  }

  /** The same on a terminal, which util-linux's `script` provides. Waits for the banner. */
  async serveOnTerminal({ env, checkout = ROOT }: RunOptions = {}): Promise<GatewayOnTerminal> {
    const command = `exec '${process.execPath}' '${join(checkout, 'bin', 'agent-gateway.js')}' serve`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], {
      cwd: checkout,
      env: { PATH: process.env.PATH, HOME: '/nonexistent', TERM: 'dumb', ...FREE_PORTS, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.children.push(child);
    const { output, ended } = ending(child);
    await untilStarted(ended, () => hasBanner(output()));
    return {
      screen: output,
      interrupt: async () => {
        child.stdin.write('\x03');
        return (await ended).code;
      },
    };
  }

  /** Runs one command on a terminal. `stdout` has what it wrote to either output. */
  runOnTerminal(args: readonly string[], { env, checkout = ROOT }: RunOptions = {}): Promise<Ended> {
    const words = [process.execPath, join(checkout, 'bin', 'agent-gateway.js'), ...args];
    const command = `exec ${words.map((word) => `'${word}'`).join(' ')}`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], {
      cwd: checkout,
      env: { PATH: process.env.PATH, HOME: '/nonexistent', TERM: 'dumb', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.children.push(child);
    return ending(child).ended;
  }

  /** Ends the processes that still run, by pid, and removes the folders. */
  async clear(): Promise<void> {
    for (const child of this.children) endGroup(pidOf(child));
    for (const folder of this.folders) {
      const pid = postmasterPid(join(folder, 'data'));
      if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGQUIT');
      if (pid !== undefined) await until(() => !isAlive(pid), 10_000);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  private spawnGateway(args: readonly string[], options: RunOptions): ChildProcess {
    const { env, checkout = ROOT, cwd = checkout, uid, npm = false } = options;
    const node = [process.execPath, join(checkout, 'bin', 'agent-gateway.js'), ...args] as const;
    const [file, ...rest] = npm ? (['npm', 'start'] as const) : node;
    const child = spawn(file, rest, {
      cwd,
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group, so that processes that npm starts are ended too.
      detached: true,
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    this.children.push(child);
    return child;
  }
}

/** The banner ends with an empty line, whatever is logged around it. */
function hasBanner(screen: string): boolean {
  return /Try it [\s\S]*?\n {2}TOKEN=[\s\S]*?\n\n/.test(screen.replaceAll('\r', ''));
}

/** The pid that the embedded server has written to its data directory; undefined when none runs. */
export function postmasterPid(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}

/** The same when a server must be running. */
export function runningPostmaster(dataDir: string): number {
  const pid = postmasterPid(dataDir);
  if (pid === undefined) throw new Error(`No embedded server runs in ${dataDir}.`);
  return pid;
}

/** Whether a process runs. A zombie does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = process.platform === 'linux' ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
    return !/\) Z /.test(stat);
  } catch {
    return false;
  }
}

/** Polls until it is true; rejects when the limit is over. */
export async function until(isSo: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (const pauseMs of pauses()) {
    if (await isSo()) return;
    if (performance.now() > deadline)
      throw new Error(`It is still not so after ${limitMs} ms: ${String(isSo)}`);
    await sleep(pauseMs);
  }
}

/** Rejects with the output of a process that exits before it has started. */
async function untilStarted(ended: Promise<Ended>, hasStarted: () => boolean): Promise<void> {
  let end: { readonly how: unknown } | undefined;
  ended.then(
    (one) => (end = { how: JSON.stringify(one) }),
    (error: unknown) => (end = { how: error }),
  );
  await until(() => end !== undefined || hasStarted(), START_LIMIT_MS);
  if (end !== undefined) throw new Error(`The gateway ended at its start: ${String(end.how)}`);
}

function ending(child: ChildProcess): { output(): string; ended: Promise<Ended> } {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { output: () => stdout, ended };
}

/** Ends what a process started here has left of its group. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('The process was not started.');
  return pid;
}

type Line = Readonly<Record<string, string | undefined>>;

function lineThatSays(output: string, message: string): Line | undefined {
  const line = output.split('\n').find((one) => one.startsWith('{') && one.includes(`"message":"${message}`));
  return line === undefined ? undefined : (JSON.parse(line) as Line);
}

const runningLine = (output: string): Line | undefined => lineThatSays(output, 'the gateway is running');

/** What a start without a terminal reveals: addresses in the log, and the token in the file that the log names. */
function startFacts(output: string) {
  const { profile_a: a = '', profile_b: b = '', operations = '' } = runningLine(output) ?? {};
  const file = lineThatSays(output, "the administrator's first token")?.['file'];
  const said = file === undefined ? '' : readFileSync(file, 'utf8');
  return { a, b, operations, token: /^ {2}(agw_\S+)$/m.exec(said)?.[1], pasteLines: pasteLines(said) };
}

/** The lines of a banner that people paste into a shell. */
export function pasteLines(banner: string): string {
  const from = banner.indexOf('Try it in another terminal');
  if (from === -1) return '';
  return banner
    .slice(from)
    .split(/\r?\n/)
    .filter((line) => line.startsWith('  '))
    .join('\n');
}
