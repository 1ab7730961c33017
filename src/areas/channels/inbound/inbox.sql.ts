import { columnsOf } from '../../../platform/database/entity-columns.js';
import {
  arrayOf,
  bigint,
  integer,
  json,
  nullable,
  text,
  timestamp,
} from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { ChannelMessageEntity } from '../channel.entities.js';
import type { AdapterData } from '../channel-adapter.port.js';
import type { InboxFile } from './message-text.js';

/** Null keeps the cursor. */
export const MOVE_CURSOR = statement({
  name: 'channel_inbox.move_cursor',
  params: { name: text, replica: text, fence: bigint, cursor: nullable(json<AdapterData>()) },
  row: { name: text },
  sql: `
    UPDATE channel_states SET receive_cursor = coalesce(:cursor::json, receive_cursor)
    WHERE name = :name AND owner = :replica AND fence = :fence RETURNING name`,
});

/** The writer is null in a group. Once two people wrote, `sole_user` stays null. */
export const UPSERT_CONVERSATION = statement({
  name: 'channel_inbox.meet_writers',
  params: { channel: text, conversations: arrayOf(text), writers: arrayOf(nullable(text)) },
  row: {},
  sql: `
    INSERT INTO channel_conversations AS known (channel, conversation, sole_user)
    SELECT :channel, conversation, CASE WHEN count(*) = count(writer) AND min(writer) = max(writer) THEN min(writer) END
    FROM unnest(:conversations::text[], :writers::text[]) AS met (conversation, writer)
    GROUP BY conversation ORDER BY conversation
    ON CONFLICT (channel, conversation) DO UPDATE SET written_at = now(),
      sole_user = CASE WHEN known.sole_user = excluded.sole_user THEN known.sole_user END`,
});

/** A known message is not stored again. */
export const STORE = statement({
  name: 'channel_inbox.store',
  params: {
    channel: text,
    conversations: arrayOf(text),
    external_ids: arrayOf(text),
    message_ids: arrayOf(text),
    users: arrayOf(text),
    contents: arrayOf(text),
    targets: arrayOf(text),
    groups: arrayOf(integer),
    files: arrayOf(text),
  },
  row: { external_id: text },
  sql: `
    INSERT INTO channel_messages (channel, conversation, external_id, message_id, user_id, content, target, is_group,
      files)
    SELECT :channel, conversation, external_id, message_id, user_id, content, target::json, is_group = 1, files::json
    FROM unnest(:conversations::text[], :external_ids::text[], :message_ids::text[], :users::text[], :contents::text[],
        :targets::text[], :groups::int[], :files::text[])
      WITH ORDINALITY AS arrived (conversation, external_id, message_id, user_id, content, target, is_group, files, place)
    ORDER BY place
    ON CONFLICT (channel, external_id) DO NOTHING RETURNING external_id`,
});

const OPEN = {
  ...columnsOf(
    ChannelMessageEntity,
    'id',
    'channel',
    'conversation',
    'messageId',
    'userId',
    'content',
    'isGroup',
  ),
  ...columnsOf(ChannelMessageEntity, 'receivedAt', 'answeredAt'),
  ...{ target: json<AdapterData>(), files: json<InboxFile[]>() },
};
export const NEXT = statement({
  name: 'channel_inbox.next',
  params: { channel: text, conversation: text },
  row: OPEN,
  sql: `
    SELECT id, channel, conversation, message_id, user_id, content, is_group, target, files, received_at,
      answered_at
    FROM channel_messages WHERE channel = :channel AND conversation = :conversation AND done_at IS NULL ORDER BY id LIMIT 1`,
});

/** The oldest open message of the writer of a message behind it, in its conversation, that has no files. */
export const REPLY_TO = statement({
  name: 'channel_inbox.reply_to',
  params: { id: bigint, after: timestamp },
  row: OPEN,
  sql: `
    SELECT next.id, next.channel, next.conversation, next.message_id, next.user_id, next.content, next.is_group, next.target,
      next.files, next.received_at, next.answered_at
    FROM channel_messages AS asked JOIN channel_messages AS next
      ON next.channel = asked.channel AND next.conversation = asked.conversation AND next.id > asked.id
    WHERE asked.id = :id AND next.done_at IS NULL AND next.user_id = asked.user_id AND next.received_at > :after
      AND json_array_length(next.files) = 0
    ORDER BY next.id LIMIT 1`,
});

export const NOW = statement({
  name: 'channel_inbox.now',
  params: {},
  row: { now: timestamp },
  sql: 'SELECT clock_timestamp() AS now',
});

/** The history has the text by now; the row stays as the record that the message was seen. */
export const DONE = statement({
  name: 'channel_inbox.done',
  params: { id: bigint },
  row: {},
  sql: `UPDATE channel_messages SET done_at = now(), content = '', files = '[]' WHERE id = :id`,
});

export const NOTE_FILES = statement({
  name: 'channel_inbox.note_files',
  params: { id: bigint, files: json<InboxFile[]>() },
  row: {},
  sql: `UPDATE channel_messages SET files = :files WHERE id = :id`,
});
export const FILES = statement({
  name: 'channel_inbox.files',
  params: { id: bigint },
  row: { files: json<InboxFile[]>() },
  sql: `SELECT files FROM channel_messages WHERE id = :id`,
});

/** Messages that were done so many days ago, with their replies. */
export const PRUNE = statement({
  name: 'channel_inbox.prune',
  params: { days: integer, most: bigint },
  row: { id: bigint },
  sql: `
    WITH old AS (
      SELECT id, message_id FROM channel_messages WHERE done_at < now() - make_interval(days => :days)
      ORDER BY done_at LIMIT :most FOR UPDATE SKIP LOCKED
    ), replies AS (
      DELETE FROM channel_replies USING old WHERE channel_replies.message_id = old.message_id
    )
    DELETE FROM channel_messages USING old WHERE channel_messages.id = old.id RETURNING channel_messages.id`,
});

/**
 * Conversations without a message for so many days and with nothing open. One that receives a message meanwhile stays: the
 * conditions are checked again once its row is locked.
 */
export const PRUNE_CONVERSATIONS = statement({
  name: 'channel_inbox.prune_conversations',
  params: { days: integer },
  row: {},
  sql: `
    DELETE FROM channel_conversations AS one
    WHERE written_at < now() - make_interval(days => :days) AND (owner IS NULL OR lease_until < now())
      AND NOT EXISTS (
        SELECT 1 FROM channel_messages AS m
        WHERE m.channel = one.channel AND m.conversation = one.conversation AND m.done_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = one.session_id AND status <> 'terminated')`,
});
