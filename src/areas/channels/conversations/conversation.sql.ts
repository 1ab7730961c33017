import type { Statement } from '../../../platform/database/sql.js';

/** A conversation whose worker does not renew it for so long is free for others. */
export const CONVERSATION_LEASE_SECS = 15;

const LEASE_END = `now() + interval '${CONVERSATION_LEASE_SECS} seconds'`;
/** `$1` replica, `$2` channel, `$3` conversation, `$4` fence. */
export const HELD = 'channel = $2 AND conversation = $3 AND owner = $1 AND fence = $4';

/** Conversations of these channels (`$2`) with something to do, while their platform can be spoken to; at most `$3`. */
export const CLAIM: Statement = {
  name: 'channel_conversations.claim',
  text: `
    UPDATE channel_conversations AS one SET owner = $1, lease_until = ${LEASE_END}, fence = one.fence + 1
    FROM (
      SELECT known.channel, known.conversation
      FROM channel_conversations AS known
      WHERE (known.channel, known.conversation) IN (
          SELECT channel, conversation FROM channel_messages
          WHERE done_at IS NULL AND channel IN (
            SELECT name FROM channel_states WHERE name = ANY ($2) AND status = 'connected'))
        AND (known.owner IS NULL OR known.lease_until < now())
        AND (known.retry_at IS NULL OR known.retry_at <= now())
      LIMIT $3 FOR UPDATE SKIP LOCKED
    ) AS free
    WHERE one.channel = free.channel AND one.conversation = free.conversation
    RETURNING one.channel, one.conversation, one.session_id, one.fence::float8 AS fence, one.failures`,
};

export const RENEW: Statement = {
  name: 'channel_conversations.renew',
  text: `
    UPDATE channel_conversations AS one SET lease_until = ${LEASE_END}
    FROM unnest($2::text[], $3::text[], $4::float8[]) AS held (channel, conversation, fence)
    WHERE one.channel = held.channel AND one.conversation = held.conversation AND one.owner = $1
      AND one.fence = held.fence
    RETURNING one.channel, one.conversation`,
};

/** `$5` milliseconds until somebody looks again, null for as soon as there is something; `$6` failures in a row. */
export const RELEASE: Statement = {
  name: 'channel_conversations.release',
  text: `
    UPDATE channel_conversations SET owner = NULL, lease_until = NULL, failures = $6,
      retry_at = now() + make_interval(secs => $5::float8 / 1000)
    WHERE ${HELD}`,
};

export const SET_SESSION: Statement = {
  name: 'channel_conversations.set_session',
  text: `UPDATE channel_conversations SET session_id = $5 WHERE ${HELD} RETURNING session_id`,
};

/** Those of channel `$1` in which somebody wrote last; at most `$2`. */
export const RECENT: Statement = {
  name: 'channel_conversations.recent',
  text: `
    SELECT conversation FROM channel_conversations WHERE channel = $1
    ORDER BY written_at DESC, conversation LIMIT $2`,
};
