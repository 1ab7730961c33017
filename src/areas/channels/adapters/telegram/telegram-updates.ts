import type { Message, Update, UserFromGetMe } from 'grammy/types';
import type { InboundMessage } from '../../channel-adapter.port.js';

/** The message of an update if a person wrote it; undefined for edits, joins, votes and other bots. */
export function inboundOf(
  update: Update,
  me: Pick<UserFromGetMe, 'id' | 'username'>,
): InboundMessage | undefined {
  const { message } = update;
  if (message?.from === undefined || message.from.is_bot) return undefined;
  const { from, chat } = message;
  const isGroup = chat.type !== 'private';
  const thread = message.is_topic_message === true ? message.message_thread_id : undefined;
  return {
    externalId: `${me.id}:${update.update_id}`,
    conversation: thread === undefined ? String(chat.id) : `${chat.id}/${thread}`,
    sender: {
      id: String(from.id),
      aliases: from.username === undefined ? [] : [`@${from.username}`],
      displayName: [from.first_name, from.last_name].filter(Boolean).join(' '),
    },
    isGroup,
    isAddressed: !isGroup || isAddressed(message, me),
    text: withoutMention(message.text ?? message.caption ?? '', me),
    target: { chat: chat.id, ...(thread === undefined ? {} : { thread }) },
  };
}

function isAddressed(message: Message, me: Pick<UserFromGetMe, 'id' | 'username'>): boolean {
  if (message.reply_to_message?.from?.id === me.id) return true;
  return mentionOf(me).test(message.text ?? message.caption ?? '');
}

function withoutMention(text: string, me: Pick<UserFromGetMe, 'username'>): string {
  return text.replace(mentionOf(me), '').trim();
}

/** `@name`, alone or after a command as in `/help@name`; names consist of letters, digits and underscores. */
function mentionOf({ username }: Pick<UserFromGetMe, 'username'>): RegExp {
  return new RegExp(`@${username}(?!\\w)`, 'i');
}
