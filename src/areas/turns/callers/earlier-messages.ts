import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids/typeid.js';
import type { OnCommit, SqlRunner } from '../../../platform/database/sql.js';
import { json, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { storableJson, storableText } from '../../../platform/database/storable-text.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { ToolCallRecord } from '../../tools/tools.api.js';
import { lockBytes, refuseTooManyBytes } from '../limits/token-shares.store.js';
import { allowanceOf } from '../limits/turn-allowance.js';
import type { NewAttachment } from '../message.js';
import { INSERT_ATTACHMENT } from '../turn-start.sql.js';

/** A message of a conversation that took place elsewhere. */
export type EarlierMessage =
  | { readonly role: 'user'; readonly content: string; readonly attachments: readonly NewAttachment[] }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly ToolCallRecord[] };

/** They belong to no turn, because no turn was run for them here. */
const NO_TURN = 'earlier';

const INSERT = statement({
  name: 'messages.insert_earlier',
  params: { session: text, messages: json<unknown[]>() },
  row: {},
  sql: `
    WITH said AS (
      INSERT INTO messages (id, session_id, turn_id, seq, role, content, tool_calls, attachments)
      SELECT id, :session, '${NO_TURN}', seq, role, content, tool_calls, attachments FROM json_to_recordset(:messages)
        AS given (id text, seq int, role text, content text, tool_calls json, attachments json)
      RETURNING id
    )
    UPDATE sessions SET message_count = (SELECT count(*) FROM said) WHERE id = :session`,
});

/** Attachments are deleted with their messages. */
const FORGET = statement({
  name: 'messages.forget_earlier',
  params: { session: text },
  row: {},
  sql: `
    WITH gone AS (DELETE FROM messages WHERE session_id = :session AND turn_id = '${NO_TURN}' RETURNING id)
    UPDATE sessions SET message_count = message_count - (SELECT count(*) FROM gone) WHERE id = :session`,
});

/** Gives a new session the conversation that its caller brings along. */
@Injectable()
export class EarlierMessages {
  constructor(private readonly settings: Settings) {}

  /** To be committed with the session. Throws `TurnLimitReached` for more bytes than the API token may store. */
  storing(messages: readonly EarlierMessage[], caller: Caller): OnCommit<{ readonly id: string }> {
    return async (runner, { id: sessionId }) => {
      const placed = messages.map((message, index) => ({ id: newId('msg'), seq: index + 1, message }));
      await runner.query(INSERT, { session: sessionId, messages: JSON.stringify(placed.map(rowOf)) });
      const attached = placed.flatMap(({ id, message }) =>
        message.role === 'user' ? message.attachments.map((one) => ({ ...one, messageId: id })) : [],
      );
      const allowance = allowanceOf(this.settings.current.limits, caller, []);
      const bytes = attached.reduce((sum, { data }) => sum + data.length, 0);
      await lockBytes(runner, allowance, bytes);
      await refuseTooManyBytes(runner, allowance, bytes);
      for (const { id, messageId, data } of attached)
        await runner.query(INSERT_ATTACHMENT, { id, message: messageId, data, family: allowance.family });
    };
  }
}

/** Of a session whose first turn did not begin. */
export async function forgetEarlier(runner: SqlRunner, sessionId: string): Promise<void> {
  await runner.query(FORGET, { session: sessionId });
}

function rowOf({ id, seq, message }: { id: string; seq: number; message: EarlierMessage }) {
  const { role, content } = message;
  return {
    ...{ id, seq, role, content: storableText(content) },
    tool_calls: message.role === 'assistant' ? storableJson(message.toolCalls) : [],
    attachments: message.role === 'user' ? message.attachments.map(({ data: _bytes, ...info }) => info) : [],
  };
}
