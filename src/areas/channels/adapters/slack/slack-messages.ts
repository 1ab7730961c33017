import { z } from 'zod';
import type { InboundMessage, MessageContext } from '../../channel-adapter.port.js';
import { type SlackEnvelope } from './slack-connection.js';
import { slackFiles } from './slack-files.js';

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
/** Slack's markup: `<@U1>`, `<@U1|ada>`, `<#C1|general>`, `<!here>`, `<https://…|label>`. */
const MARKED = /<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>/g;

/** The text as people read it, without the mention of the bot. */
export function readableText(text: string, bot: string): string {
  return text
    .replace(mentionOf(bot), '')
    .replace(MARKED, (_all, sign: string, what: string, label?: string) => readable(sign, what, label))
    .replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity)
    .trim();
}

export function mentions(text: string, bot: string): boolean {
  return text.search(mentionOf(bot)) >= 0;
}

function mentionOf(bot: string): RegExp {
  return new RegExp(`<@${bot}(?:\\|[^<>]*)?>`, 'g');
}

function readable(sign: string, what: string, label: string | undefined): string {
  const hasLabel = label !== undefined && label !== '';
  if (sign === '') return hasLabel && label !== what ? `${label} (${what})` : what;
  if (hasLabel) return `${sign === '#' ? '#' : '@'}${label}`;
  return sign === '!' ? `@${what}` : `${sign}${what}`;
}

const id = z.string().regex(/^[A-Za-z0-9]{1,64}$/);
const timestamp = z.string().regex(/^\d{1,12}\.\d{1,9}$/);
const absent = <Type extends z.ZodType>(type: Type) =>
  type.nullish().transform((value) => value ?? undefined);

/** The fields of a message that are read; the same in events and in histories. */
const slackMessage = z.object({
  type: z.enum(['message', 'app_mention']),
  channel: id,
  channel_type: absent(z.string()),
  subtype: absent(z.string()),
  user: absent(id),
  bot_id: absent(z.string()),
  text: absent(z.string()),
  ts: timestamp,
  thread_ts: absent(timestamp),
  parent_user_id: absent(z.string()),
  files: z.array(z.unknown()).nullish().catch(null),
  attachments: z.array(z.unknown()).nullish().catch(null),
});
export type SlackMessage = z.output<typeof slackMessage>;
/** A message that a person wrote. `edited` is when it got its present text, if it is an edit of an earlier one. */
export type WrittenMessage = SlackMessage & { readonly user: string; readonly edited?: string };

/** An edit by a person; what Slack itself adds to messages, such as previews of links, has no `edited`. */
const slackEdit = z.object({
  type: z.literal('message'),
  subtype: z.literal('message_changed'),
  channel: id,
  channel_type: absent(z.string()),
  message: z.object({ text: absent(z.string()), ts: timestamp, edited: z.object({ ts: timestamp }) }).loose(),
  previous_message: z.object({ text: absent(z.string()) }),
});
/** No one expects an answer to the edit of an older message. */
const MAX_EDIT_SECS = 24 * 3600;

/** The bot, according to `auth.test`. */
export interface SlackBot {
  readonly team: string;
  readonly user: string;
}

/** Subtypes of messages that people write; all others are edits, joins, topics and the like. */
const WRITTEN = new Set<string | undefined>([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** The message of an event or a history if a person wrote it; undefined otherwise. */
export function messageOf(value: unknown, bot: SlackBot): WrittenMessage | undefined {
  return editOf(value, bot) ?? writtenOf(value, bot);
}

function editOf(value: unknown, bot: SlackBot): WrittenMessage | undefined {
  const { data } = slackEdit.safeParse(value);
  if (data === undefined || data.message.text === data.previous_message.text) return undefined;
  const { channel, channel_type, message } = data;
  const edited = message.edited.ts;
  if (Number(edited) - Number(message.ts) > MAX_EDIT_SECS) return undefined;
  const written = writtenOf({ ...message, type: 'message', channel, channel_type }, bot);
  return written && { ...written, edited };
}

function writtenOf(value: unknown, bot: SlackBot): WrittenMessage | undefined {
  const { data } = slackMessage.safeParse(value);
  if (data?.user === undefined || data.user === bot.user || data.bot_id !== undefined) return undefined;
  return WRITTEN.has(data.subtype) ? { ...data, user: data.user } : undefined;
}

export function isId(value: string): boolean {
  return id.safeParse(value).success;
}

export function isGroup({
  channel,
  channel_type: type,
}: Pick<SlackMessage, 'channel' | 'channel_type'>): boolean {
  return type === undefined ? !channel.startsWith('D') : type !== 'im';
}

export function isAddressed(message: SlackMessage, bot: SlackBot): boolean {
  if (!isGroup(message) || message.parent_user_id === bot.user) return true;
  return message.type === 'app_mention' || mentions(message.text ?? '', bot.user);
}

/** A private chat is one conversation outside its threads; elsewhere every message that is not a reply starts a thread. */
function threadOf(message: SlackMessage): string | undefined {
  return message.thread_ts ?? (isGroup(message) ? message.ts : undefined);
}

export function inboundOf(message: WrittenMessage, bot: SlackBot, displayName: string): InboundMessage {
  const { channel, ts, user, text = '', edited } = message;
  const thread = threadOf(message);
  const context = contextOf(message, bot);
  const files = slackFiles([
    ...(message.files ?? []),
    ...sharedOf(message).flatMap((one) => one.files ?? []),
  ]);
  return {
    externalId: `${bot.team}:${channel}:${ts}${edited === undefined ? '' : `:${edited}`}`,
    conversation: thread === undefined ? channel : `${channel}/${thread}`,
    // Anyone can choose any name at Slack, so only ids are matched with allowed_users.
    sender: { id: user, aliases: [], displayName },
    isGroup: isGroup(message),
    isAddressed: isAddressed(message, bot),
    text: readableText(text, bot.user),
    ...(context === undefined ? {} : { context }),
    ...(files.length === 0 ? {} : { files }),
    target: { channel, ...(thread === undefined ? {} : { thread }) },
  };
}

/** A message that someone shared into another conversation. */
const shared = z.object({
  is_share: absent(z.boolean()),
  is_msg_unfurl: absent(z.boolean()),
  author_name: absent(z.string()),
  text: absent(z.string()),
  files: z.array(z.unknown()).nullish().catch(null),
});

function sharedOf({ attachments }: SlackMessage): z.output<typeof shared>[] {
  return (attachments ?? []).flatMap((value) => {
    const { data } = shared.safeParse(value);
    return data !== undefined && (data.is_share === true || data.is_msg_unfurl === true) ? data : [];
  });
}

function contextOf(message: WrittenMessage, bot: SlackBot): MessageContext | undefined {
  const [one] = sharedOf(message);
  const isEdit = message.edited !== undefined;
  if (one === undefined && !isEdit) return undefined;
  const author = one?.author_name === undefined ? null : { name: one.author_name };
  return {
    ...(one === undefined ? {} : { quote: { author, text: readableText(one.text ?? '', bot.user) } }),
    ...(isEdit ? { isEdit } : {}),
  };
}

const body = z.object({
  event: z.object({ type: z.string() }).loose(),
  authorizations: z
    .array(z.object({ user_id: z.string().nullish(), is_bot: z.boolean().nullish() }))
    .nullish(),
});

/** Events that say the app lost its access. */
const ACCESS_REVOKED = new Set(['tokens_revoked', 'app_uninstalled']);

/** The event of an envelope; undefined for other kinds, and for other workspaces that installed the same app. */
export function eventOf(
  { type, body: value }: SlackEnvelope,
  bot: SlackBot,
): { readonly type: string } | undefined {
  if (type !== 'events_api') return undefined;
  const { data } = body.safeParse(value);
  const installed = data?.authorizations ?? [];
  const isOthers = installed.every((one) => one.is_bot === true && one.user_id !== bot.user);
  return installed.length > 0 && isOthers ? undefined : data?.event;
}

export function revokesAccess(envelope: SlackEnvelope): boolean {
  return ACCESS_REVOKED.has(body.safeParse(envelope.body).data?.event.type ?? '');
}
