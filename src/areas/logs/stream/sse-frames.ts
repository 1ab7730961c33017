import type { LogEntry } from '../../../platform/logging/log.store.js';

/** Lines that a reader of this stream does not get here. */
export interface Gap {
  /** `slow_reader`: cut because it read nothing; `expired`: no longer kept; `unknown_id`: its last id is not one of ours. */
  readonly reason: 'slow_reader' | 'expired' | 'unknown_id';
  /** How many lines, of any level and module, lie in the gap; null when that cannot be known. */
  readonly lines: number | null;
  /** False when a reconnect with the event's id still brings them. */
  readonly lost: boolean;
}

/** The first thing a reader gets: how long to wait before a reconnect, and the place to resume from. */
export function openingFrame(id: number, retryMs: number): string {
  return `retry: ${retryMs}\nid: ${id}\n\n`;
}

export function logFrame(id: number, data: object): string {
  return `id: ${id}\nevent: log\ndata: ${JSON.stringify(data)}\n\n`;
}

export function gapFrame(id: number, gap: Gap): string {
  return `id: ${id}\nevent: gap\ndata: ${JSON.stringify(gap)}\n\n`;
}

/** Keeps the connection in use, and moves the place to resume from past lines that the filter left out. */
export function heartbeatFrame(id: number): string {
  return `: heartbeat\nid: ${id}\n\n`;
}

/** The last thing a reader gets when the gateway stops: when to reconnect, here or elsewhere. */
export function closingFrame(retryMs: number): string {
  return `: the gateway is stopping\nretry: ${retryMs}\n\n`;
}

/** The last thing a reader gets whose token may no longer read. */
export function forbiddenFrame(): string {
  return ': forbidden\n\n';
}

/** How an entry looks in a stream; the module binds the profile that formats it. */
export abstract class EntryFormat {
  /** The object whose JSON becomes the data of the event. */
  abstract present(entry: LogEntry): object;
}
