import { useEffect, useState } from 'react';
import type { Api } from '../api/client';
import type { LogEntry } from '../api/types';

/** A line, and the number that React uses as its key. */
export interface Line {
  readonly number: number;
  readonly entry: LogEntry;
}

export interface Tail {
  readonly lines: readonly Line[];
  readonly state: 'loading' | 'live' | 'lost';
  readonly error: Error | undefined;
}

const MOST_LINES = 1000;
const FIRST_LINES = 200;
/** Lines are drawn together, however fast they arrive. */
const DRAW_MS = 200;
const POLL_MS = 2000;
const AGAIN_MS = 2000;

interface Options {
  readonly api: Api;
  readonly profile: 'a' | 'b';
  readonly level: string;
  readonly paused: boolean;
}

/** The newest lines of the log, kept up to date: from the stream of Profile B, or by polling at a port of Profile A. */
export function useLogTail({ api, profile, level, paused }: Options): Tail {
  const [tail, setTail] = useState<Tail>({ lines: [], state: 'loading', error: undefined });
  useEffect(() => {
    if (paused) return;
    const ended = new AbortController();
    const arrived: LogEntry[] = [];
    let next = 0;
    const numbered = (entries: readonly LogEntry[]): Line[] =>
      entries.map((entry) => ({ number: next++, entry }));
    const replace = (entries: readonly LogEntry[]): void =>
      setTail({ lines: numbered(entries), state: 'live', error: undefined });
    const timer = setInterval(() => {
      if (arrived.length === 0) return;
      const added = numbered(arrived.splice(0).slice(-MOST_LINES));
      setTail((before) => ({ ...before, lines: [...before.lines, ...added].slice(-MOST_LINES) }));
    }, DRAW_MS);
    const fail = (error: Error): void => setTail((before) => ({ ...before, state: 'lost', error }));
    const follow = profile === 'b' ? followStream : followByAsking;
    void follow({ api, level, replace, add: (entry) => arrived.push(entry), fail, signal: ended.signal });
    return () => {
      clearInterval(timer);
      ended.abort();
    };
  }, [api, profile, level, paused]);
  return tail;
}

interface Following {
  readonly api: Api;
  readonly level: string;
  readonly replace: (entries: readonly LogEntry[]) => void;
  readonly add: (entry: LogEntry) => void;
  readonly fail: (error: Error) => void;
  readonly signal: AbortSignal;
}

interface Entries {
  readonly entries: readonly LogEntry[];
}

async function followStream(following: Following): Promise<void> {
  const { api, level, add, signal } = following;
  await repeat(AGAIN_MS, following, async () => {
    await readNewest(following);
    for await (const { data } of api.events('/api/v1/logs/stream', { level }, signal)) addEntry(data, add);
  });
}

function addEntry(data: string, add: Following['add']): void {
  const entry = JSON.parse(data) as Partial<LogEntry>;
  if (entry.timestamp !== undefined && entry.message !== undefined) add(entry as LogEntry);
}

async function followByAsking(following: Following): Promise<void> {
  await repeat(POLL_MS, following, () => readNewest(following));
}

async function readNewest({ api, level, replace, signal }: Following): Promise<void> {
  const { entries } = await api.get<Entries>('/api/v1/logs', { level, limit: FIRST_LINES }, signal);
  replace(entries);
}

async function repeat(
  everyMs: number,
  { signal, fail }: Following,
  work: () => Promise<void>,
): Promise<void> {
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    try {
      await work();
    } catch (error) {
      if (isOver()) return;
      fail(error instanceof Error ? error : new Error(String(error)));
    }
    await pause(everyMs, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
