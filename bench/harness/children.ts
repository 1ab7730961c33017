import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** A process that takes longer to stop is killed. */
const STOP_LIMIT_MS = 15_000;

export interface ChildCommand {
  /** Arguments of node: its options, the script, and the script's arguments. */
  readonly args: readonly string[];
  /** The whole environment. Nothing is inherited from this process. */
  readonly environment: Readonly<Record<string, string>>;
  /** Gets stdout and stderr. */
  readonly logFile: string;
  /** Opens an IPC channel to the child. The child exits when this process does. */
  readonly withChannel?: boolean;
}

/** Every process that a run has started, so that none is left behind. */
export class Children {
  private readonly running = new Set<ChildProcess>();

  start({ args, environment, logFile, withChannel = false }: ChildCommand): ChildProcess {
    const log = openSync(logFile, 'a');
    const child = spawn(process.execPath, [...args], {
      env: { ...baseEnvironment(), ...environment },
      stdio: ['ignore', log, log, ...(withChannel ? ['ipc' as const] : [])],
    });
    closeSync(log);
    this.running.add(child);
    child.once('exit', () => this.running.delete(child));
    return child;
  }

  async stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await exited;
    clearTimeout(timer);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.running].map((child) => this.stop(child)));
  }
}

/** Rejects with the end of the child's log when it exits; never resolves. */
export async function failedStart(child: ChildProcess, logFile: string): Promise<never> {
  await once(child, 'exit');
  const lines = readFileSync(logFile, 'utf8').trim().split('\n').slice(-15).join('\n');
  throw new Error(`${child.spawnargs.slice(1).join(' ')} ended with ${child.exitCode}:\n${lines}`);
}

export function pidOf({ pid, spawnfile }: ChildProcess): number {
  if (pid === undefined) throw new Error(`${spawnfile} could not be started.`);
  return pid;
}

function baseEnvironment(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'SystemRoot'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
