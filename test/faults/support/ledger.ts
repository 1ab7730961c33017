import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Fault } from './fault-schedule.js';

/** What a caller was told for good, and what it had asked for; times are milliseconds since the ledger was opened. */
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
  /** What was answered; undefined for a message that was accepted to be answered later. */
  answer?: string | undefined;
}

type Dated<Kind extends Entry['kind']> = Extract<Entry, { kind: Kind }> & { readonly at: number };

/** An append-only file, one line for each thing that was acknowledged, written when the answer arrived. */
export class Ledger {
  readonly file = join(mkdtempSync(join(tmpdir(), 'agw-ledger-')), 'ledger.jsonl');
  private readonly entries: (Entry & { readonly at: number })[] = [];
  private readonly openedAt = performance.now();

  get now(): number {
    return Math.round(performance.now() - this.openedAt);
  }

  write(entry: Entry): void {
    const dated = { at: this.now, ...entry };
    this.entries.push(dated);
    appendFileSync(this.file, `${JSON.stringify(dated)}\n`);
  }

  of<Kind extends Entry['kind']>(kind: Kind): Dated<Kind>[] {
    return this.entries.filter((entry): entry is Dated<Kind> => entry.kind === kind);
  }

  /** For a run that went well; the ledger of another is kept to be looked into. */
  remove(): void {
    rmSync(dirname(this.file), { recursive: true });
  }
}
