import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './embedded-postgres.error.js';
import { pidScope, processStart } from './process-facts.js';

const pollMs = 10;
const refreshMs = 2_000;
/**
 * A holder whose pid means nothing here (another container, an unfinished file) counts as gone after this long without
 * a sign.
 */
const staleMs = 15_000;
/**
 * Breaking a lock takes a few synchronous calls. A guard file older than this was left by a process that died
 * meanwhile.
 */
const guardMs = 5_000;

interface Holder {
  readonly pid: number;
  readonly started: string;
  readonly scope: string;
}

/** Makes sure that one process at a time starts, adopts or stops the server. A lock whose holder died is taken over. */
export class StartLock {
  private readonly refresher: NodeJS.Timeout;

  private constructor(
    private readonly path: string,
    private readonly content: string,
  ) {
    this.refresher = setInterval(() => this.refresh(), refreshMs);
    this.refresher.unref();
  }

  /** Waits until this process holds the lock. Rejects with the signal's reason when that is aborted first. */
  static async acquire(path: string, signal: AbortSignal): Promise<StartLock> {
    const content = ownContent();
    while (!tryCreate(path, content)) {
      breakIfAbandoned(path);
      await sleep(pollMs);
      signal.throwIfAborted();
    }
    return new StartLock(path, content);
  }

  release(): void {
    clearInterval(this.refresher);
    if (read(this.path) === this.content) rmSync(this.path, { force: true });
  }

  private refresh(): void {
    try {
      const now = new Date();
      utimesSync(this.path, now, now);
    } catch {
      // The file is gone with its folder; the next process that needs the lock creates a new one.
    }
  }
}

function ownContent(): string {
  const holder: Holder = {
    pid: process.pid,
    started: processStart(process.pid) ?? '',
    scope: pidScope(),
  };
  return JSON.stringify(holder);
}

function tryCreate(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Works under a guard file: of two processes that see the same dead holder, the slower one must not remove the new lock
 * of the faster one.
 */
function breakIfAbandoned(path: string): void {
  if (!isAbandoned(path)) return;
  const guard = `${path}.break`;
  if (!tryCreate(guard, String(process.pid))) {
    if (ageOf(guard) > guardMs) rmSync(guard, { force: true });
    return;
  }
  try {
    if (isAbandoned(path)) rmSync(path, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

function isAbandoned(path: string): boolean {
  const content = read(path);
  if (content === undefined) return false;
  const holder = parse(content);
  if (holder?.scope === pidScope()) return processStart(holder.pid) !== holder.started;
  return ageOf(path) > staleMs;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function parse(content: string): Holder | undefined {
  try {
    return JSON.parse(content) as Holder;
  } catch {
    return undefined;
  }
}

function ageOf(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
