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
  /** What it wrote to standard output so far. */
  output(): string;
  /** Base URLs as the banner shows them. */
  readonly a: string;
  readonly b: string;
  readonly operations: string;
  /** The token of the banner, when this start made one. */
  readonly token: string | undefined;
  /** The lines of the banner that are to be pasted. */
  readonly pasteLines: string;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Where it runs; the project's folder unless given. */
  readonly cwd?: string;
  /** The checkout whose command runs; the project's folder unless given. */
  readonly checkout?: string;
  readonly uid?: number;
  /** Through `npm start`: the pid and the signals are then npm's. */
  readonly npm?: true;
}

const ROOT = process.cwd();
const START_LIMIT_MS = 30_000;
/** And no balancer that has to notice a stop. */
const FREE_PORTS = {
  GATEWAY__GATEWAY__DRAIN_GRACE_MS: '0',
  GATEWAY__GATEWAY__PORT: '0',
  GATEWAY__GATEWAY__PROFILE_A_PORT: '0',
  GATEWAY__GATEWAY__MANAGEMENT_PORT: '0',
};

/** Several gateways of several test files share one server of 50 connections. */
export const FEW_CONNECTIONS = { GATEWAY__DATABASE__POOL_SIZE: '5' };

/** A place for one story: folders and processes that go with it. */
export class ProcessBench {
  private readonly children: ChildProcess[] = [];
  private readonly folders: string[] = [];

  /** A new folder whose path is short enough for a socket in it. */
  async folder(prefix = 'agw-'): Promise<string> {
    const folder = await mkdtemp(join('/tmp', prefix));
    this.folders.push(folder);
    return folder;
  }

  /** Runs one command to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return ending(this.spawnGateway(args, options)).ended;
  }

  /** Starts a gateway on free ports and waits for its banner; rejects with what it wrote when it ends before. */
  async serve(options: RunOptions = {}): Promise<GatewayProcess> {
    const env = { ...FREE_PORTS, ...(options.env?.DATABASE_URL && FEW_CONNECTIONS), ...options.env };
    const child = this.spawnGateway(['serve'], { ...options, env });
    const { output, all, ended } = ending(child);
    const early = ended.then((end) => {
      throw new Error(`The gateway ended at its start: ${JSON.stringify(end)}`);
    });
    // The banner ends with an empty line, whatever is logged around it.
    await Promise.race([
      early,
      until(() => /Try it [\s\S]*?\n\n {2}TOKEN=[\s\S]*?\n\n/.test(all()), START_LIMIT_MS),
    ]);
    early.catch(() => undefined);
    return {
      pid: pidOf(child),
      output,
      ended,
      ...bannerFacts(all()),
      kill: (signal) => void child.kill(signal),
    };
  }

  /** Ends what still runs, by its pid, and removes the folders. */
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
      // A group of its own, so that what npm starts can be ended with it.
      detached: true,
      ...(uid === undefined ? {} : { uid, gid: uid }),
    });
    this.children.push(child);
    return child;
  }
}

/** The pid that the embedded server of a data directory has noted; undefined when none runs. */
export function postmasterPid(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}

/** The same, where one must run. */
export function runningPostmaster(dataDir: string): number {
  const pid = postmasterPid(dataDir);
  if (pid === undefined) throw new Error(`No embedded server runs in ${dataDir}.`);
  return pid;
}

/** Whether a process runs; one that only waits for its parent to notice its end does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = process.platform === 'linux' ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
    return !/\) Z /.test(stat);
  } catch {
    return false;
  }
}

/** Looks again until it is so; rejects when it is not within the limit. */
export async function until(isSo: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (const pauseMs of pauses()) {
    if (await isSo()) return;
    if (performance.now() > deadline)
      throw new Error(`It is still not so after ${limitMs} ms: ${String(isSo)}`);
    await sleep(pauseMs);
  }
}

function ending(child: ChildProcess): { output(): string; all(): string; ended: Promise<Ended> } {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { output: () => stdout, all: () => stdout + stderr, ended };
}

/** What a process that was started here has left of its group. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('The process was not started.');
  return pid;
}

function bannerFacts(output: string) {
  const address = (name: string) => new RegExp(`^  ${name} +(http\\S+)`, 'm').exec(output)?.[1] ?? '';
  const paste = output.slice(output.indexOf('Try it in another terminal'));
  return {
    a: address('Profile A'),
    b: address('Profile B'),
    operations: address('Operations'),
    token: /^ {2}(agw_\S+)$/m.exec(output)?.[1],
    pasteLines: paste
      .split('\n')
      .filter((line) => line.startsWith('  '))
      .join('\n'),
  };
}
