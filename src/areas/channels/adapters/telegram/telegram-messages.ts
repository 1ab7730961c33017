import type { Message, MessageOrigin, Update, User, UserFromGetMe } from 'grammy/types';
import type { InboundFile, InboundMessage, MessageContext } from '../../channel-adapter.port.js';

type Bot = Pick<UserFromGetMe, 'id' | 'username'>;

/** Pictures come in several sizes; models are not shown more than this well. */
const LONGEST_SIDE = 2600;

/** Whether more updates of the same album may follow. */
export function isOfAlbum(update: Update | undefined): boolean {
  return update?.message?.media_group_id !== undefined;
}

/** The messages that people wrote, an album as one; in their order. */
export function inboundMessages(updates: readonly Update[], me: Bot): InboundMessage[] {
  const albums = new Map<string, number>();
  const messages: InboundMessage[] = [];
  for (const update of updates) {
    const message = readUpdate(update, me);
    if (message === undefined) continue;
    const { media_group_id: group } = update.message ?? {};
    const key =
      typeof group !== 'string' ? undefined : `${message.conversation} ${message.sender.id} ${group}`;
    const place = key === undefined ? undefined : albums.get(key);
    const first = place === undefined ? undefined : messages[place];
    if (place !== undefined && first !== undefined) {
      messages[place] = together(first, message);
      continue;
    }
    if (key !== undefined) albums.set(key, messages.length);
    messages.push(message);
  }
  return messages;
}

/** An update of an unknown form concerns its own chat: the others must not wait for it. */
function readUpdate(update: Update, me: Bot): InboundMessage | undefined {
  try {
    return inboundOf(update, me);
  } catch {
    const { chat, from } = update.message ?? {};
    if (typeof chat?.id !== 'number' || typeof from?.id !== 'number') return undefined;
    return {
      externalId: `${me.id}:${update.update_id}`,
      conversation: String(chat.id),
      sender: { id: String(from.id), aliases: [], displayName: '' },
      isGroup: chat.type !== 'private',
      isAddressed: chat.type === 'private',
      text: '',
      files: [unreadable('message')],
      target: { chat: chat.id },
    };
  }
}

/** Joins two pictures of an album into one message; usually only one of them has a caption. */
function together(first: InboundMessage, next: InboundMessage): InboundMessage {
  return {
    ...first,
    isAddressed: first.isAddressed || next.isAddressed,
    text: [first.text, next.text].filter(Boolean).join('\n'),
    files: [...(first.files ?? []), ...(next.files ?? [])],
  };
}

/** The message of an update if a person wrote it; undefined for joins, votes, and what other bots write. */
export function inboundOf(update: Update, me: Bot): InboundMessage | undefined {
  const message = update.message ?? written(update.edited_message);
  if (message?.from === undefined || message.from.is_bot) return undefined;
  const text = textOf(message);
  const own = filesOf(message);
  if (text === undefined && own.length === 0) return undefined;
  const files = [...own, ...quotedFiles(message, me)];
  const { from, chat } = message;
  const isGroup = chat.type !== 'private';
  const thread = message.is_topic_message === true ? message.message_thread_id : undefined;
  const context = contextOf(message, me, update.edited_message !== undefined);
  return {
    externalId: `${me.id}:${update.update_id}`,
    conversation: thread === undefined ? String(chat.id) : `${chat.id}/${thread}`,
    sender: senderOf(from),
    isGroup,
    isAddressed: !isGroup || isAddressed(message, me),
    text: withoutMention(text ?? '', me),
    ...(context === undefined ? {} : { context }),
    ...(files.length === 0 ? {} : { files }),
    target: { chat: chat.id, ...(thread === undefined ? {} : { thread }) },
  };
}

function senderOf(from: User): InboundMessage['sender'] {
  const aliases = from.username === undefined ? [] : [`@${from.username}`];
  return { id: String(from.id), aliases, displayName: nameOf(from) };
}

/** A place that is shared while people move edits its message every few seconds. */
function written(message: Message | undefined): Message | undefined {
  return message?.location === undefined ? message : undefined;
}

function nameOf(user: { readonly first_name: string; readonly last_name?: string }): string {
  return [user.first_name, user.last_name].filter(Boolean).join(' ');
}

function isAddressed(message: Message, me: Bot): boolean {
  if (message.reply_to_message?.from?.id === me.id) return true;
  return mentionOf(me).test(message.text ?? message.caption ?? '');
}

function withoutMention(text: string, me: Bot): string {
  return text.replace(mentionOf(me), '').trim();
}

/** `@name`, alone or after a command as in `/help@name`; names consist of letters, digits and underscores. */
function mentionOf({ username }: Pick<Bot, 'username'>): RegExp {
  return new RegExp(`@${username}(?!\\w)`, 'i');
}

/** What a message says in words, also of what only looks like a picture; undefined for notices such as joins. */
function textOf(message: Message): string | undefined {
  const { text, caption, sticker, dice, contact, venue, location, poll } = message;
  if (text !== undefined || caption !== undefined) return text ?? caption;
  if (sticker !== undefined) return `(a sticker${sticker.emoji === undefined ? '' : `: ${sticker.emoji}`})`;
  if (dice !== undefined) return `(${dice.emoji} shows ${dice.value})`;
  if (contact !== undefined) return `(a contact: ${nameOf(contact)}, ${contact.phone_number})`;
  if (venue !== undefined) return `(a place: ${venue.title}, ${venue.address}, ${placeOf(venue.location)})`;
  if (location !== undefined) return `(a place: ${placeOf(location)})`;
  if (poll !== undefined) return `(a poll: ${poll.question}\n${poll.options.map(optionLine).join('\n')})`;
  return undefined;
}

function optionLine({ text }: { readonly text: string }): string {
  return `- ${text}`;
}

function placeOf({ latitude, longitude }: { readonly latitude: number; readonly longitude: number }): string {
  return `${latitude}, ${longitude}`;
}

/** Kinds of which a message has at most one, with the name for a file without one. */
const MEDIA = [
  ['animation', 'video', 'animation.mp4', 'video/mp4'],
  ['document', 'file', 'document', ''],
  ['voice', 'audio', 'voice message.ogg', 'audio/ogg'],
  ['audio', 'audio', 'audio', 'audio/mpeg'],
  ['video', 'video', 'video.mp4', 'video/mp4'],
  ['video_note', 'video', 'video message.mp4', 'video/mp4'],
] as const;

/** What was sent besides the text; kinds that bots get no file for are only named. */
function filesOf(message: Message): InboundFile[] {
  const { photo = [], sticker } = message;
  const shown = photo.filter(({ width, height }) => Math.max(width, height) <= LONGEST_SIDE);
  const picture = shown.at(-1) ?? photo[0];
  const files = picture === undefined ? [] : [fileOf(picture, 'image', 'photo.jpg', 'image/jpeg')];
  for (const [kind, type, name, mimeType] of MEDIA) {
    const file: TelegramFile | undefined = message[kind];
    // An animation is announced as a document, too.
    const isRepeated = kind === 'document' && message.animation !== undefined;
    if (file !== undefined && !isRepeated) files.push(fileOf(file, type, name, mimeType));
  }
  if (sticker !== undefined && !sticker.is_animated && !sticker.is_video) {
    files.push(fileOf(sticker, 'image', 'sticker.webp', 'image/webp'));
  }
  for (const kind of UNREADABLE) if (message[kind] !== undefined) files.push(unreadable(kind));
  return files;
}

const UNREADABLE = ['story', 'game', 'paid_media', 'checklist', 'invoice'] as const;

interface TelegramFile {
  readonly file_id: string;
  readonly file_size?: number;
  readonly file_name?: string;
  readonly mime_type?: string;
}

function fileOf(file: TelegramFile, type: InboundFile['type'], name: string, mimeType: string): InboundFile {
  return {
    type,
    name: file.file_name ?? name,
    mimeType: file.mime_type ?? mimeType,
    sizeBytes: file.file_size ?? null,
    where: { file: file.file_id },
  };
}

function unreadable(kind: string): InboundFile {
  return { type: 'file', name: kind.replace('_', ' '), mimeType: '', sizeBytes: null, where: null };
}

/** A reply to a picture is about that picture. What the bot sent itself is known. */
function quotedFiles({ reply_to_message: quoted }: Message, me: Bot): InboundFile[] {
  return quoted === undefined || quoted.from?.id === me.id
    ? []
    : filesOf(quoted).filter(({ where }) => where !== null);
}

function contextOf(message: Message, me: Bot, isEdit: boolean): MessageContext | undefined {
  const quote = quoteOf(message, me);
  const { forward_origin: origin } = message;
  if (quote === undefined && origin === undefined && !isEdit) return undefined;
  return {
    ...(quote === undefined ? {} : { quote }),
    ...(origin === undefined ? {} : { forwardedFrom: originOf(origin) }),
    ...(isEdit ? { isEdit } : {}),
  };
}

function quoteOf(message: Message, me: Bot): MessageContext['quote'] {
  const { reply_to_message: replied, external_reply: external, quote } = message;
  const text = quote?.text ?? (replied === undefined ? undefined : textOf(replied));
  const files = replied === undefined ? [] : filesOf(replied);
  const shown = text ?? (files.length === 0 ? undefined : `(${files.map(({ name }) => name).join(', ')})`);
  if (shown === undefined || shown === '') return undefined;
  if (replied?.from !== undefined) {
    return { author: replied.from.id === me.id ? 'agent' : { name: nameOf(replied.from) }, text: shown };
  }
  return { author: external === undefined ? null : { name: originOf(external.origin) }, text: shown };
}

function originOf(origin: MessageOrigin): string {
  switch (origin.type) {
    case 'user':
      return nameOf(origin.sender_user);
    case 'hidden_user':
      return origin.sender_user_name;
    case 'chat':
      return origin.sender_chat.title ?? 'a chat';
    case 'channel':
      return origin.chat.title;
    default:
      origin satisfies never;
      return 'someone';
  }
}
