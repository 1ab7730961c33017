import { z } from 'zod';
import type { InboundMessage } from '../../channel-adapter.port.js';
import { mentions, readableText } from './slack-text.js';

const id = z.string().regex(/^[A-Za-z0-9]{1,64}$/);
const timestamp = z.string().regex(/^\d{1,12}\.\d{1,9}$/);
const absent = <Type extends z.ZodType>(type: Type) =>
  type.nullish().transform((value) => value ?? undefined);

/** As much of a message as is looked at; in events and in histories it is the same. */
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
});
export type SlackMessage = z.output<typeof slackMessage>;
/** One that somebody wrote. */
export type WrittenMessage = SlackMessage & { readonly user: string };

/** The bot, as `auth.test` tells of it. */
export interface SlackBot {
  readonly team: string;
  readonly user: string;
}

/** What people write also has these; the others are edits, joins, topics and the like. */
const WRITTEN = new Set<string | undefined>([undefined, 'file_share', 'thread_broadcast', 'me_message']);

/** The message of an event or a history, if it is one that people write; undefined for everything else. */
export function messageOf(value: unknown, bot: SlackBot): WrittenMessage | undefined {
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

/** In private, what is not said in a thread is one conversation; elsewhere every message that is no reply begins a thread. */
function threadOf(message: SlackMessage): string | undefined {
  return message.thread_ts ?? (isGroup(message) ? message.ts : undefined);
}

export function inboundOf(message: WrittenMessage, bot: SlackBot, displayName: string): InboundMessage {
  const { channel, ts, user, text = '' } = message;
  const thread = threadOf(message);
  return {
    externalId: `${bot.team}:${channel}:${ts}`,
    conversation: thread === undefined ? channel : `${channel}/${thread}`,
    // Names are anybody's to choose at Slack; only ids let people in.
    sender: { id: user, aliases: [], displayName },
    isGroup: isGroup(message),
    isAddressed: isAddressed(message, bot),
    text: readableText(text, bot.user),
    target: { channel, ...(thread === undefined ? {} : { thread }) },
  };
}
