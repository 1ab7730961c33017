import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { SqlValue, Statement } from '../../../platform/database/sql.js';
import type { Message } from '../../turns/turns.api.js';
import type { SaidBefore } from '../responses/input-items.js';
import { responseIdOf } from '../responses/response-view.js';

interface SaidRow extends Pick<Message, 'id' | 'role' | 'content' | 'attachments' | 'incomplete'> {
  readonly place: number;
  readonly turn_id: string;
  readonly tool_calls: Message['toolCalls'];
  readonly is_earlier: boolean;
  readonly tools: readonly { readonly name?: string }[] | null;
  readonly outputs: Readonly<Record<string, string>> | null;
}

/** A message, and its place in the conversation. */
export interface PlacedSaying {
  readonly place: number;
  readonly said: SaidBefore;
}

/** Of a message that stands in line. */
const LAST = '2147483647';
/** Where what a response answers ends: `$2` is the message that its turn answers, which may still stand in line. */
const END = `coalesce((SELECT seq FROM messages WHERE id = $2), ${LAST})`;
const COLUMNS = `
  said.id, coalesce(said.seq, ${LAST}) AS place, said.turn_id, said.role, said.content, said.attachments, said.incomplete,
  said.tool_calls, said.turn_id = 'earlier' AS is_earlier, responses.request -> 'tools' AS tools,
  CASE WHEN json_array_length(said.tool_calls) > 0 THEN (
    SELECT json_object_agg(steps.content #>> '{result,callId}', steps.content #>> '{result,content}')
    FROM turn_steps AS steps WHERE steps.turn_id = said.turn_id AND steps.kind = 'answered') END AS outputs`;
/** By the index of the session's places: `$1` the session, `$3` the place to begin at. What stands in line has none yet. */
const pageOf = (compared: string, order: string, inLine: string): string => `
  SELECT ${COLUMNS} FROM (
    (SELECT * FROM messages WHERE session_id = $1 AND seq <= ${END} AND seq ${compared} $3::int8 ORDER BY seq ${order} LIMIT $4)
    UNION ALL
    (SELECT * FROM messages WHERE id = $2 AND session_id = $1 AND seq IS NULL AND ${LAST} ${compared} $3::int8)
    ORDER BY seq ${order} NULLS ${inLine} LIMIT $4) AS said
    LEFT JOIN responses ON responses.turn_id = said.turn_id
  ORDER BY place ${order}`;
const OLDEST: Statement = { name: 'responses.input_oldest', text: pageOf('>=', 'ASC', 'LAST') };
const NEWEST: Statement = { name: 'responses.input_newest', text: pageOf('<=', 'DESC', 'FIRST') };
/** `$3` the id of a message, `$4` that of the turn of an answer: an item has its id from one of them. */
const PLACE: Statement = {
  name: 'responses.input_place',
  text: `
    SELECT place FROM (
      SELECT coalesce(seq, ${LAST}) AS place FROM messages
      WHERE id = $3 AND session_id = $1 AND (id = $2 OR seq <= ${END})
      UNION ALL
      SELECT answer.seq FROM turns JOIN messages AS asked ON asked.id = turns.user_message_id CROSS JOIN LATERAL (
        SELECT seq FROM messages AS m
        WHERE m.session_id = $1 AND m.seq > asked.seq AND m.seq <= ${END} AND m.turn_id = $4 AND m.role = 'assistant'
        ORDER BY m.seq LIMIT 1) AS answer
      WHERE turns.id = $4 AND turns.session_id = $1
    ) AS found LIMIT 1`,
};

/** What a response answers. */
export interface AnsweredInput {
  readonly sessionId: string;
  readonly userMessageId: string;
}

/** Reads what the items of an input are made from. */
@Injectable()
export class InputItemsStore {
  constructor(private readonly database: Database) {}

  /** Where the message or the answer stands that items of this id body are of. */
  async placeOf({ sessionId, userMessageId }: AnsweredInput, body: string): Promise<number | undefined> {
    const values = [sessionId, userMessageId, `msg_${body}`, `turn_${body}`];
    return (await this.database.query<{ place: number }>(PLACE, values))[0]?.place;
  }

  /** At most `limit` messages, from a place on, the one there included; undefined for the beginning. */
  async page(
    { sessionId, userMessageId }: AnsweredInput,
    { from, isNewestFirst, limit }: { from: number | undefined; isNewestFirst: boolean; limit: number },
  ): Promise<PlacedSaying[]> {
    const first = from ?? (isNewestFirst ? Number(LAST) : 0);
    const values: SqlValue[] = [sessionId, userMessageId, first, limit];
    const rows = await this.database.query<SaidRow>(isNewestFirst ? NEWEST : OLDEST, values);
    return rows.map((row) => ({ place: row.place, said: saidBefore(row) }));
  }
}

function saidBefore(row: SaidRow): SaidBefore {
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
