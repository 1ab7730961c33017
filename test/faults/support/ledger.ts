import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Fault } from './fault-schedule.js';

/** A definite answer to a caller, and what it had asked for. Times are milliseconds since the ledger was opened. */
export type Entry =
  | { kind: 'session'; key: string; session: string; askedAt: number }
  | MessageEntry
  | { kind: 'refused'; key: string; session: string; status: number; reason: string }
  | { kind: 'ended'; session: string }
  | { kind: 'hook'; key: string; hook: string; path: string }
  | { kind: 'setting'; key: string; value: number }
  | ({ kind: 'fault' } & { fault: Fault; tookMs: number })
  | { kind: 'violation'; sentence: string };

export interface MessageEntry {
  kind: 'message';
  key: string;
  caller: string;
  session: string;
  message: string;
  /** The answer; undefined for a message that was accepted and is answered later. */
  answer?: string | undefined;
}

type Dated<Kind extends Entry['kind']> = Extract<Entry, { kind: Kind }> & { readonly at: number };

/** An append-only file with a line for each acknowledgement, written when the response arrived. */
export class Ledger {
  readonly file = join(mkdtempSync(join(tmpdir(), 'agw-ledger-')), 'ledger.jsonl');
  private readonly entries: (Entry & { readonly at: number })[] = [];
  private readonly openedAt = performance.now();

  get now(): number {
    return this.timeOf(performance.now());
  }

  /** Converts a moment of `performance.now()` to the clock of the entries. */
  timeOf(moment: number): number {
    return Math.round(moment - this.openedAt);
  }

  write(entry: Entry): void {
    const dated = { at: this.now, ...entry };
    this.entries.push(dated);
    appendFileSync(this.file, `${JSON.stringify(dated)}\n`);
  }

  of<Kind extends Entry['kind']>(kind: Kind): Dated<Kind>[] {
    return this.entries.filter((entry): entry is Dated<Kind> => entry.kind === kind);
  }

  /** Writes a file beside the ledger, for examining a failed run. */
  keep(name: string, text: string): void {
    writeFileSync(join(dirname(this.file), name), text);
  }

  /** Removes the ledger of a successful run. That of a failed run is kept. */
  remove(): void {
    rmSync(dirname(this.file), { recursive: true });
  }
}
