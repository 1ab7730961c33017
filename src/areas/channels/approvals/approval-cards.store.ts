import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { Database } from '../../../platform/database/database.js';
import { columnsOf } from '../../../platform/database/entity-columns.js';
import {
  arrayOf,
  boolean,
  double,
  json,
  nullable,
  oneOf,
  type RowOf,
  text,
} from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { storableText } from '../../../platform/database/storable-text.js';
import type { AdapterData } from '../channel-adapter.port.js';
import type { CardText } from './approval-card.js';
import { ChannelApprovalEntity } from './channel-approval.entity.js';

/** While a replica sends or edits a card, no other does. */
export const CARD_LEASE_SECS = 30;
const LEASE_END = `now() + interval '${CARD_LEASE_SECS} seconds'`;
const MAX_AT_ONCE = 20;

/** Whether a person can still decide about call `a`. */
const WAITS = `a.verdict IS NULL AND a.expires_at > now() AND EXISTS (
  SELECT 1 FROM turns WHERE turns.id = a.turn_id AND turns.status IN ('running', 'awaiting_approval'))`;

const UNSHOWN_CALL = {
  ...{ id: text, channel: text, session_id: text, tool: text },
  /** Indented JSON; its first 4000 characters. */
  arguments: text,
  ...{ target: json<AdapterData>(), asker: text },
};
/**
 * Calls that wait and have no card, only for messages that came over the channel, because that is where their answer
 * goes. Such a message is among the open ones of its conversation until the turn ends.
 */
const WITHOUT_CARD = statement({
  name: 'channel_approvals.without_card',
  params: { channels: arrayOf(text) },
  row: UNSHOWN_CALL,
  sql: `
    SELECT a.id, a.channel, a.session_id, a.tool, left(jsonb_pretty(a.arguments), 4000) AS arguments,
      m.target, m.user_id AS asker
    FROM tool_approvals AS a
    JOIN turns AS t ON t.id = a.turn_id
    JOIN channel_conversations AS c ON c.session_id = a.session_id AND c.channel = a.channel
    JOIN channel_messages AS m ON m.channel = c.channel AND m.conversation = c.conversation AND m.done_at IS NULL
      AND m.message_id = t.user_message_id
    WHERE a.channel = ANY (:channels) AND ${WAITS}
      AND NOT EXISTS (SELECT 1 FROM channel_approvals AS known WHERE known.approval_id = a.id)
    ORDER BY a.asked_at LIMIT ${MAX_AT_ONCE}`,
});

/** The first replica that inserts it sends it. */
const CLAIM = statement({
  name: 'channel_approvals.claim',
  params: {
    id: text,
    channel: text,
    code: text,
    target: json<AdapterData>(),
    session: text,
    asker: text,
    title: text,
    details: text,
  },
  row: { approval_id: text },
  sql: `
    INSERT INTO channel_approvals (approval_id, channel, code, target, session_id, asker, title, details, due_at)
    VALUES (:id, :channel, :code, :target::json, :session, :asker, :title, :details, ${LEASE_END})
    ON CONFLICT (approval_id) DO NOTHING RETURNING approval_id`,
});

const CARD = columnsOf(
  ChannelApprovalEntity,
  ...([
    'approvalId',
    'channel',
    'code',
    'target',
    'sessionId',
    'asker',
    'title',
    'details',
    'status',
  ] as const),
  ...(['externalId', 'decider', 'attempts', 'dueAt', 'createdAt'] as const),
);
/** Cards that were not sent, and sent ones whose call nobody can decide about any more. */
const DUE = statement({
  name: 'channel_approvals.due',
  params: { channels: arrayOf(text) },
  row: {
    ...CARD,
    verdict: nullable(oneOf<'allowed' | 'denied'>()),
    decided_by: nullable(text),
    waits: boolean,
  },
  sql: `
    UPDATE channel_approvals AS card SET due_at = ${LEASE_END}
    FROM (
      SELECT c.approval_id, a.verdict, a.decided_by, coalesce(${WAITS}, false) AS waits
      FROM channel_approvals AS c LEFT JOIN tool_approvals AS a ON a.id = c.approval_id
      WHERE c.channel = ANY (:channels) AND c.status <> 'closed' AND c.due_at <= now()
        AND (c.status = 'new' OR NOT coalesce(${WAITS}, false))
      ORDER BY c.created_at LIMIT ${MAX_AT_ONCE} FOR UPDATE OF c SKIP LOCKED
    ) AS due
    WHERE card.approval_id = due.approval_id
    RETURNING card.*, due.verdict, due.decided_by, due.waits`,
});

const SHOWN = statement({
  name: 'channel_approvals.shown',
  params: { id: text, external: nullable(text) },
  row: {},
  sql: `
    UPDATE channel_approvals SET status = 'shown', external_id = :external, due_at = now(), attempts = 0
    WHERE approval_id = :id AND status = 'new'`,
});

const FAILED = statement({
  name: 'channel_approvals.failed',
  params: { id: text, retry_in_ms: double },
  row: {},
  sql: `
    UPDATE channel_approvals SET attempts = attempts + 1, due_at = now() + make_interval(secs => :retry_in_ms::float8 / 1000)
    WHERE approval_id = :id`,
});

/** A closed card stays for an hour, for people who click second. */
const FORGET = statement({
  name: 'channel_approvals.forget',
  params: {},
  row: {},
  sql: `
    DELETE FROM channel_approvals
    WHERE status = 'closed' AND due_at < now() - interval '1 hour' OR created_at < now() - interval '31 days'`,
});

/** A call that waits and is not shown in its conversation yet. */
export type UnshownCall = RowOf<typeof UNSHOWN_CALL>;

/** A card, as it is stored. */
export type StoredCard = Readonly<Omit<ChannelApprovalEntity, 'sessionId' | 'dueAt' | 'createdAt'>>;

/** A card that has to be sent or edited, and what became of its call. */
export interface DueCard extends StoredCard {
  readonly waits: boolean;
  readonly verdict: 'allowed' | 'denied' | null;
  readonly decidedBy: string | null;
}

/** Which messages with buttons there are, and how far each was sent. */
@Injectable()
export class ApprovalCardStore {
  constructor(
    private readonly database: Database,
    @InjectRepository(ChannelApprovalEntity) private readonly cards: Repository<ChannelApprovalEntity>,
  ) {}

  /** At most 20. */
  async withoutCard(channels: readonly string[]): Promise<readonly UnshownCall[]> {
    return this.database.query(WITHOUT_CARD, { channels });
  }

  /** Undefined when another replica was first. */
  async claim(call: UnshownCall, code: string, text: CardText): Promise<StoredCard | undefined> {
    const { id: approvalId, channel, target, asker } = call;
    const title = storableText(text.title);
    const details = storableText(text.details);
    const rows = await this.database.query(CLAIM, {
      ...{ id: approvalId, channel, code, target: JSON.stringify(target), session: call.session_id, asker },
      ...{ title, details },
    });
    if (rows.length === 0) return undefined;
    const card = { approvalId, channel, code, target, asker, title, details };
    return { ...card, status: 'new', externalId: null, decider: null, attempts: 0 };
  }

  /** At most 20, which no other replica gets for 30 s. */
  async due(channels: readonly string[]): Promise<readonly DueCard[]> {
    const rows = await this.database.query(DUE, { channels });
    return rows.map((row) => ({
      ...toCard(row),
      waits: row.waits,
      verdict: row.verdict,
      decidedBy: row.decided_by,
    }));
  }

  /** By what a button brought back. */
  async find(channel: string, code: string): Promise<StoredCard | undefined> {
    const card = await this.database.answered(this.cards.findOneBy({ channel, code }));
    return card ?? undefined;
  }

  async shown(approvalId: string, externalId: string | undefined): Promise<void> {
    await this.database.query(SHOWN, { id: approvalId, external: externalId ?? null });
  }

  async closed(approvalId: string): Promise<void> {
    await this.database.answered(this.cards.update({ approvalId }, CLOSED));
  }

  /**
   * The same, unless the card by now has another name than the one people were shown (null for none): then it is edited
   * once more.
   */
  async closedAs(approvalId: string, told: string | null): Promise<void> {
    const decider = told ?? IsNull();
    await this.database.answered(this.cards.update({ approvalId, decider }, CLOSED));
  }

  async failed(approvalId: string, retryInMs: number): Promise<void> {
    await this.database.query(FAILED, { id: approvalId, retry_in_ms: retryInMs });
  }

  async decidedBy(approvalId: string, name: string): Promise<void> {
    // The decision stands before the name: a card that was closed meanwhile is shown again.
    const status = () => `CASE status WHEN 'closed' THEN 'shown' ELSE status END`;
    const noted = { decider: storableText(name), status, dueAt: () => 'now()' };
    await this.database.answered(this.cards.update({ approvalId }, noted));
  }

  async forgetOld(): Promise<void> {
    await this.database.query(FORGET);
  }
}

const CLOSED = { status: 'closed', dueAt: () => 'now()' } as const;

function toCard(row: RowOf<typeof CARD>): StoredCard {
  return {
    approvalId: row.approval_id,
    channel: row.channel,
    code: row.code,
    target: row.target,
    asker: row.asker,
    title: row.title,
    details: row.details,
    status: row.status,
    externalId: row.external_id,
    decider: row.decider,
    attempts: row.attempts,
  };
}
