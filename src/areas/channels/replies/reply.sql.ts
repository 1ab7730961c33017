import type { Statement } from '../../../platform/database/sql.js';
import { HELD } from '../conversations/conversation.sql.js';

/** Only whoever holds the conversation (see `HELD`) may say anything in it. */
const IF_HELD = `EXISTS (SELECT 1 FROM channel_conversations WHERE ${HELD})`;

/** A first piece is about to be shown: `$5` message, `$6` text. */
export const DRAFT: Statement = {
  name: 'channel_replies.draft',
  text: `
    INSERT INTO channel_replies (message_id, part, content, status)
    SELECT $5, 1, $6, 'draft' WHERE ${IF_HELD} ON CONFLICT (message_id, part) DO NOTHING RETURNING part`,
};
export const DRAFTED: Statement = {
  name: 'channel_replies.drafted',
  text: `UPDATE channel_replies SET external_id = $2 WHERE message_id = $1 AND part = 1`,
};

export const HOLDS: Statement = {
  name: 'channel_replies.holds',
  text: `SELECT 1 AS held FROM channel_conversations WHERE ${HELD}`,
};

/** The whole answer of message `$5`, which is row `$6`: its parts (`$7`), in the state `$8`. What was a draft becomes part 1. */
export const WRITE: Statement = {
  name: 'channel_replies.write',
  text: `
    WITH answered AS (
      UPDATE channel_messages SET answered_at = now()
      WHERE id = $6 AND answered_at IS NULL AND ${IF_HELD} RETURNING id
    ), written AS (
      INSERT INTO channel_replies (message_id, part, content, status)
      SELECT $5, place, content, $8 FROM answered, unnest($7::text[]) WITH ORDINALITY AS parts (content, place)
      ON CONFLICT (message_id, part) DO UPDATE SET content = EXCLUDED.content, status = EXCLUDED.status
      WHERE channel_replies.status = 'draft'
    )
    SELECT id FROM answered`,
};
/** One more part, after the others. */
export const ADD: Statement = {
  name: 'channel_replies.add',
  text: `
    INSERT INTO channel_replies (message_id, part, content, status)
    SELECT $1, max(part) + 1, $2, 'pending' FROM channel_replies WHERE message_id = $1
    ON CONFLICT (message_id, part) DO NOTHING`,
};
export const OF_MESSAGE: Statement = {
  name: 'channel_replies.of_message',
  text: `SELECT part, content, status, external_id, attempts FROM channel_replies WHERE message_id = $1 ORDER BY part`,
};

/** It is about to leave: from here on it is not known whether it has, until that is written down. */
export const SENDING: Statement = {
  name: 'channel_replies.sending',
  text: `
    UPDATE channel_replies SET status = 'sending', attempts = attempts + 1
    WHERE message_id = $5 AND part = $6 AND ${IF_HELD} RETURNING part`,
};
export const ENDED: Statement = {
  name: 'channel_replies.ended',
  text: `
    UPDATE channel_replies SET status = $3, error = $4, external_id = coalesce($5, external_id)
    WHERE message_id = $1 AND part = $2`,
};
/** What was to be edited is gone: it is sent anew. */
export const UNTIE: Statement = {
  name: 'channel_replies.untie',
  text: `UPDATE channel_replies SET external_id = NULL, status = 'pending' WHERE message_id = $1 AND part = $2`,
};
