import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { columnsOf } from '../../../platform/database/entity-columns.js';
import {
  arrayOf,
  bytes,
  integer,
  json,
  nullable,
  type RowOf,
  text,
} from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { storableText } from '../../../platform/database/storable-text.js';
import { throughOutage } from '../../../platform/database/through-outage.js';
import { ReplicaId } from '../../../platform/lifecycle/replica-id.js';
import type { ModelToolCall, ModelToolResult } from '../../models/models.api.js';
import type { CallTask, ProducedFile, ToolCallRecord } from '../../tools/tools.api.js';
import { type Budget, budgetsSpent, type ModelSpending } from '../../usage/usage.api.js';
import type { TurnAccount } from '../turn-account.js';
import { MAX_ANSWER_FILE_BYTES, MAX_ANSWER_FILES } from '../turn-files.js';
import { HELD_LEASE, LEASE_PARAMS, LEASE_SECS, leaseParams, type TurnLease } from '../turn-lease.js';
import { TurnStepEntity } from '../turn-step.entity.js';
import { TurnInterrupted } from '../turns.errors.js';
import type { ShownResults } from './own-rounds.js';

/** What the model said in one round, and which tools it called. */
export interface AskedStep {
  readonly kind: 'asked';
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  /** The model that asked, as the provider names it. */
  readonly model: string;
  readonly providerState?: unknown;
  /** What the turn spent since the previous step `asked` or `spent`; absent in older rows. */
  readonly spending?: readonly ModelSpending[];
  /** Calls that may wait for a person: each of them has a step `sent` before it is made. Absent when there are none. */
  readonly held?: readonly string[];
}

/** A call that may have waited for a person is made now; or a call was made and runs at its server as a task. */
export interface SentStep {
  readonly kind: 'sent';
  readonly callId: string;
  readonly task?: CallTask;
}

/** What one tool returned, as the model was given it. */
export interface AnsweredStep {
  readonly kind: 'answered';
  readonly result: ModelToolResult;
  /** How the call went, for the history; absent in rows of earlier versions. */
  readonly record?: Pick<ToolCallRecord, 'status' | 'durationMs'>;
  /**
   * For the people of the conversation. Stored beside the step (`TurnFiles`), so a step that is read does not have
   * them.
   */
  readonly files?: readonly ProducedFile[];
}

/** What a turn spent besides its rounds: when a tool asked the model, or until it was handed over. */
export interface SpentStep {
  readonly kind: 'spent';
  readonly spending: readonly ModelSpending[];
}

/** From here on the model is shown only this much of these results, also by later turns. */
export interface CutStep {
  readonly kind: 'cut';
  readonly shown: ShownResults;
}

export type TurnStep = AskedStep | SentStep | AnsweredStep | SpentStep | CutStep;

/** The sum of the cuts of a turn, which is its last one. */
export function shownBy(steps: readonly TurnStep[]): ShownResults {
  return steps.findLast((step) => step.kind === 'cut')?.shown ?? {};
}

/** Where a running turn writes its steps. */
export interface TurnStepLog {
  /**
   * Stores a step before it is acted on, also when the database is away for less than a lease. Throws `TurnInterrupted`
   * when the lease was lost.
   */
  add(step: TurnStep): Promise<void>;
}

/** A step as it is stored. */
export const STEP_ROW = columnsOf(TurnStepEntity, 'kind', 'content');

export function toStep({ kind, content }: RowOf<typeof STEP_ROW>): TurnStep {
  return { kind, ...(content as object) } as TurnStep;
}

const STEP_PARAMS = {
  ...{ ...LEASE_PARAMS, turn: text, content: json<unknown>() },
  ...columnsOf(TurnStepEntity, 'number', 'kind'),
};
/**
 * Writes nothing once the lease is lost, even while another replica takes the turn. May be repeated: the same step is
 * stored once.
 */
const ADD_STEP = `
    INSERT INTO turn_steps (turn_id, number, kind, content)
    SELECT :turn, :number, :kind, :content FROM sessions WHERE ${HELD_LEASE} FOR SHARE
    ON CONFLICT (turn_id, number) DO UPDATE SET number = excluded.number
      WHERE turn_steps.kind = excluded.kind AND turn_steps.content::text = excluded.content::text
    RETURNING number`;

const ADD = statement({
  name: 'turn_steps.add',
  params: STEP_PARAMS,
  row: columnsOf(TurnStepEntity, 'number'),
  sql: ADD_STEP,
});

/** The same under budgets (`budgetsJson`): also returns what was spent of them meanwhile. */
const ADD_BUDGETED = statement({
  name: 'turn_steps.add_budgeted',
  params: { ...STEP_PARAMS, budgets: json<readonly Budget[]>() },
  row: { number: integer, spent: json<number[]>() },
  sql: `WITH added AS (${ADD_STEP}) SELECT number, ${budgetsSpent(':budgets::json')} AS spent FROM added`,
});

/** The same with files, whose bytes are null where they are too much for one answer. */
const ADD_WITH_FILES = statement({
  name: 'turn_steps.add_with_files',
  params: {
    ...STEP_PARAMS,
    ...{ names: arrayOf(text), mimeTypes: arrayOf(text), data: arrayOf(nullable(bytes)) },
  },
  row: { number: integer },
  sql: `
    WITH added AS (${ADD_STEP}), kept AS (
      INSERT INTO turn_files (turn_id, step, place, name, mime_type, data)
      SELECT :turn, :number, place, name, mime_type, data
      FROM added, unnest(:names::text[], :mimeTypes::text[], :data::bytea[]) WITH ORDINALITY AS files (name, mime_type, data, place)
      ON CONFLICT (turn_id, step, place) DO NOTHING
    )
    SELECT number FROM added`,
});

/**
 * The steps of the turns that wrote these messages; those up to the place `resultsCut` in the history come without
 * results.
 */
const OF_MESSAGES = statement({
  name: 'turn_steps.of_messages',
  params: { session: text, messages: arrayOf(text), resultsCut: integer },
  row: { message_id: text, ...STEP_ROW },
  replanned: true,
  sql: `
    SELECT said.id AS message_id, steps.kind, steps.content
    FROM messages AS said JOIN turn_steps AS steps ON steps.turn_id = said.turn_id
    WHERE said.session_id = :session AND said.id = ANY (:messages) AND (steps.kind = 'asked' OR said.seq > :resultsCut)
    ORDER BY said.seq, steps.number`,
});

const KEPT_FILES = statement({
  name: 'turn_steps.kept_files',
  params: { turn: text },
  row: { files: integer, bytes: integer },
  sql: `
    SELECT count(*)::int AS files, coalesce(sum(octet_length(data)), 0)::int AS bytes
    FROM turn_files WHERE turn_id = :turn AND data IS NOT NULL`,
});

/** The statements about what turns asked of tools: written as it happens, read by later turns. */
@Injectable()
export class TurnStepsStore {
  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaId,
  ) {}

  /** @param written the number of the last step that is stored already */
  open(lease: TurnLease, account: TurnAccount, written = 0): TurnStepLog {
    let number = written;
    const room = this.roomOf(lease.turnId, written > 0);
    return {
      add: async (step) => {
        const { kind, ...content } = withoutFiles(step);
        number += 1;
        const stored = kind === 'asked' ? { ...content, spending: account.takeUnstored() } : content;
        const given = { ...leaseParams(lease, this.replica), number, kind, content: JSON.stringify(stored) };
        const files = step.kind === 'answered' ? await room(step.files ?? []) : [];
        if (files.length > 0) {
          const storeAll = () => this.database.query(ADD_WITH_FILES, { ...given, ...paramsOf(files) });
          const kept = await throughOutage(storeAll, { limitMs: LEASE_SECS * 1000 });
          if (kept.length === 0) throw new TurnInterrupted();
          return;
        }
        const budgets = account.budgetsToAsk();
        const store = async (): Promise<{ readonly spent?: readonly number[] } | undefined> => {
          if (budgets === undefined) return (await this.database.query(ADD, given))[0] && {};
          return (await this.database.query(ADD_BUDGETED, { ...given, budgets }))[0];
        };
        const added = await throughOutage(store, { limitMs: LEASE_SECS * 1000 });
        if (added === undefined) throw new TurnInterrupted();
        if (budgets !== undefined) account.learn({ budgets, spent: added.spent ?? [] });
      },
    };
  }

  /** Which of a step's files are kept. A turn that was taken up has the room that its earlier files left. */
  private roomOf(
    turnId: string,
    hasEarlier: boolean,
  ): (files: readonly ProducedFile[]) => Promise<readonly KeptFile[]> {
    let room: Promise<FileRoom> | undefined;
    const read = async (): Promise<FileRoom> => {
      if (!hasEarlier) return new FileRoom(0, 0);
      const [kept] = await this.database.query(KEPT_FILES, { turn: turnId });
      return new FileRoom(kept?.files ?? 0, kept?.bytes ?? 0);
    };
    return async (files) => {
      if (files.length === 0) return [];
      room ??= throughOutage(read, { limitMs: LEASE_SECS * 1000 });
      return (await room).fitting(files);
    };
  }

  /** By the id of the answer, in order. Results of messages up to `resultsCut` are not read from the database. */
  async of(
    sessionId: string,
    messageIds: readonly string[],
    resultsCut: number,
  ): Promise<ReadonlyMap<string, readonly TurnStep[]>> {
    const steps = new Map<string, TurnStep[]>();
    if (messageIds.length === 0) return steps;
    const rows = await this.database.query(OF_MESSAGES, {
      session: sessionId,
      messages: messageIds,
      resultsCut,
    });
    for (const row of rows) {
      const id = row.message_id;
      steps.set(id, [...(steps.get(id) ?? []), toStep(row)]);
    }
    return steps;
  }
}

function withoutFiles(step: TurnStep): TurnStep {
  if (step.kind !== 'answered') return step;
  const { files: _kept, ...rest } = step;
  return rest;
}

interface KeptFile extends Omit<ProducedFile, 'data'> {
  /** Null for a file that is named only. */
  readonly data: Buffer | null;
}

/** How much room the files of one answer have together. Files past it are only named, so that people learn of them. */
class FileRoom {
  private files: number;
  private bytes: number;

  /** @param kept how many files are kept already, and how many bytes they have */
  constructor(kept: number, keptBytes: number) {
    this.files = MAX_ANSWER_FILES - kept;
    this.bytes = MAX_ANSWER_FILE_BYTES - keptBytes;
  }

  fitting(files: readonly ProducedFile[]): readonly KeptFile[] {
    return files.map(({ data, ...file }) => {
      const isFitting = this.files > 0 && data.length <= this.bytes;
      if (isFitting) {
        this.files -= 1;
        this.bytes -= data.length;
      }
      return { ...file, data: isFitting ? data : null };
    });
  }
}

function paramsOf(files: readonly KeptFile[]) {
  return {
    names: files.map(({ name }) => storableText(name)),
    mimeTypes: files.map(({ mimeType }) => storableText(mimeType)),
    data: files.map(({ data }) => data),
  };
}
