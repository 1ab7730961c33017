import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import {
  bigint,
  boolean,
  integer,
  json,
  nullable,
  oneOf,
  type RowOf,
  text,
} from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import type { Message } from '../../turns/turns.api.js';
import type { SaidBefore } from '../responses/input-items.js';
import { responseIdOf } from '../responses/response-view.js';

type SaidMessage = Pick<Message, 'role' | 'content' | 'attachments' | 'incomplete' | 'toolCalls'>;

const SAID = {
  ...{ id: text, place: integer, turn_id: text, role: oneOf<SaidMessage['role']>(), content: text },
  ...{
    attachments: json<SaidMessage['attachments']>(),
    incomplete: nullable(oneOf<NonNullable<SaidMessage['incomplete']>>()),
  },
  ...{ tool_calls: json<SaidMessage['toolCalls']>(), is_earlier: boolean },
  tools: nullable(json<readonly { readonly name?: string }[]>()),
  outputs: nullable(json<Readonly<Record<string, string>>>()),
};

/** A message, and its place in the conversation. */
export interface PlacedSaying {
  readonly place: number;
  readonly said: SaidBefore;
}

/** The place of a message that waits in line. */
const LAST = '2147483647';
/** Where the input of a response ends: with the message `:asked`, which may still wait in line. */
const END = `coalesce((SELECT seq FROM messages WHERE id = :asked), ${LAST})`;
const COLUMNS = `
  said.id, coalesce(said.seq, ${LAST}) AS place, said.turn_id, said.role, said.content, said.attachments, said.incomplete,
  said.tool_calls, said.turn_id = 'earlier' AS is_earlier, responses.request -> 'tools' AS tools,
  CASE WHEN json_array_length(said.tool_calls) > 0 THEN (
    SELECT json_object_agg(steps.content #>> '{result,callId}', steps.content #>> '{result,content}')
    FROM turn_steps AS steps WHERE steps.turn_id = said.turn_id AND steps.kind = 'answered') END AS outputs`;
/** By the index of the session's places. Messages in line have no place yet. */
const pageOf = (compared: string, order: string, inLine: string): string => `
  SELECT ${COLUMNS} FROM (
    (SELECT * FROM messages WHERE session_id = :session AND seq <= ${END} AND seq ${compared} :from::int8 ORDER BY seq ${order} LIMIT :most)
    UNION ALL
    (SELECT * FROM messages WHERE id = :asked AND session_id = :session AND seq IS NULL AND ${LAST} ${compared} :from::int8)
    ORDER BY seq ${order} NULLS ${inLine} LIMIT :most) AS said
    LEFT JOIN responses ON responses.turn_id = said.turn_id
  ORDER BY place ${order}`;
const OLDEST = statement({
  name: 'responses.input_oldest',
  params: { session: text, asked: text, from: bigint, most: bigint },
  row: SAID,
  sql: pageOf('>=', 'ASC', 'LAST'),
});
const NEWEST = statement({
  name: 'responses.input_newest',
  params: { session: text, asked: text, from: bigint, most: bigint },
  row: SAID,
  sql: pageOf('<=', 'DESC', 'FIRST'),
});
/** The place of a message, or of the answer of a turn: the id of an item comes from one of them. */
const PLACE = statement({
  name: 'responses.input_place',
  params: { session: text, asked: text, message: text, turn: text },
  row: { place: integer },
  sql: `
    SELECT place FROM (
      SELECT coalesce(seq, ${LAST}) AS place FROM messages
      WHERE id = :message AND session_id = :session AND (id = :asked OR seq <= ${END})
      UNION ALL
      SELECT answer.seq FROM turns JOIN messages AS asked ON asked.id = turns.user_message_id CROSS JOIN LATERAL (
        SELECT seq FROM messages AS m
        WHERE m.session_id = :session AND m.seq > asked.seq AND m.seq <= ${END} AND m.turn_id = :turn AND m.role = 'assistant'
        ORDER BY m.seq LIMIT 1) AS answer
      WHERE turns.id = :turn AND turns.session_id = :session
    ) AS found LIMIT 1`,
});

/** The input of a response. */
export interface AnsweredInput {
  readonly sessionId: string;
  readonly userMessageId: string;
}

/** Reads the messages that the items of an input are made from. */
@Injectable()
export class InputItemsStore {
  constructor(private readonly database: Database) {}

  /** The place of the message or answer whose items have this id body. */
  async placeOf({ sessionId, userMessageId }: AnsweredInput, body: string): Promise<number | undefined> {
    const [found] = await this.database.query(PLACE, {
      ...{ session: sessionId, asked: userMessageId },
      ...{ message: `msg_${body}`, turn: `turn_${body}` },
    });
    return found?.place;
  }

  /** At most `limit` messages, starting with the one at a place; undefined for the beginning. */
  async page(
    { sessionId, userMessageId }: AnsweredInput,
    { from, isNewestFirst, limit }: { from: number | undefined; isNewestFirst: boolean; limit: number },
  ): Promise<PlacedSaying[]> {
    const first = from ?? (isNewestFirst ? Number(LAST) : 0);
    const rows = await this.database.query(isNewestFirst ? NEWEST : OLDEST, {
      ...{ session: sessionId, asked: userMessageId, from: first, most: limit },
    });
    return rows.map((row) => ({ place: row.place, said: saidBefore(row) }));
  }
}

function saidBefore(row: RowOf<typeof SAID>): SaidBefore {
  const { id, role, content, attachments, tool_calls: toolCalls, is_earlier: isEarlier } = row;
  const outputs = isEarlier
    ? toolCalls.map(({ id: callId, output }) => [callId, output] as const)
    : Object.entries(row.outputs ?? {});
  return {
    ...{ id, role, content, attachments, toolCalls },
    responseId: row.tools === null ? undefined : responseIdOf(row.turn_id),
    isWhole: row.incomplete === null,
    clientTools: isEarlier ? undefined : new Set((row.tools ?? []).map(({ name = '' }) => name)),
    outputs: new Map(outputs),
  };
}
