import { createHash } from 'node:crypto';
import { z } from 'zod';
import { mediaKind } from '../../../../common/text/media-type.js';
import type { InboundFile, InboundMessage, MessageContext } from '../../channel-adapter.port.js';

const MAX_ID = 256;
const id = z.string().min(1).max(1024);
const absent = <Type extends z.ZodType>(type: Type) =>
  type
    .nullish()
    .catch(null)
    .transform((value) => value ?? undefined);

const account = z.object({ id, name: absent(z.string()), aadObjectId: absent(z.guid()) });
const mention = z.object({
  type: z.literal('mention'),
  mentioned: z.object({ id, name: absent(z.string()) }),
  text: absent(z.string()),
});

/** The fields of an activity that are read (Bot Framework, Activity); all others may be anything. */
const activity = z.object({
  type: z.string().max(64),
  /** What an `invoke` asks for, and with what. */
  name: absent(z.string().max(64)),
  value: z.unknown().optional(),
  id: absent(id),
  channelId: z.string().max(64),
  /** The message that it is about, such as the card that was clicked. */
  replyToId: absent(id),
  serviceUrl: z.url({ protocol: /^https?$/ }).max(512),
  timestamp: absent(z.string().max(64)),
  from: absent(account),
  recipient: absent(account),
  conversation: absent(
    z.object({ id, conversationType: absent(z.string()), tenantId: absent(z.string().max(64)) }),
  ),
  channelData: absent(
    z.object({
      tenant: absent(z.object({ id: absent(z.string().max(64)) })),
      eventType: absent(z.string()),
    }),
  ),
  text: absent(z.string()),
  entities: absent(z.array(z.unknown())),
  attachments: absent(z.array(z.unknown())),
});
export type TeamsActivity = z.output<typeof activity>;

/** Undefined for what is no activity. */
export function activityOf(body: unknown): TeamsActivity | undefined {
  return activity.safeParse(body).data;
}

/** The tenant that an activity comes from. */
export function tenantOf({ channelData, conversation }: TeamsActivity): string | undefined {
  return channelData?.tenant?.id ?? conversation?.tenantId;
}

/** An activity that somebody wrote somewhere. */
type WrittenActivity = TeamsActivity & {
  readonly [Part in 'id' | 'from' | 'recipient' | 'conversation']: NonNullable<TeamsActivity[Part]>;
};

function isEdit({ type, channelData }: TeamsActivity): boolean {
  return type === 'messageUpdate' && channelData?.eventType === 'editMessage';
}

function isWritten(one: TeamsActivity): one is WrittenActivity {
  if (one.type !== 'message' && !isEdit(one)) return false;
  const { id: activityId, from, recipient, conversation } = one;
  return [activityId, from, recipient, conversation].every((part) => part !== undefined);
}

/** The message of an activity if a person wrote or edited it; undefined for joins, reactions, deletions and the like. */
export function inboundOf(one: TeamsActivity): InboundMessage | undefined {
  if (!isWritten(one)) return undefined;
  const { from, recipient, conversation, serviceUrl } = one;
  const mentions = mentionsOf(one);
  const isGroup = conversation.conversationType !== 'personal';
  const { files, quote } = attachedTo(one);
  const context = contextOf(quote, isEdit(one));
  return {
    externalId: externalIdOf(one),
    conversation: shortId(conversation.id),
    sender: senderOf(from),
    isGroup,
    isAddressed: !isGroup || mentions.some(({ mentioned }) => mentioned.id === recipient.id),
    text: readableText(one.text ?? '', mentions, recipient.id),
    ...(context === undefined ? {} : { context }),
    ...(files.length === 0 ? {} : { files }),
    target: {
      ...{ service: serviceUrl, conversation: conversation.id, bot: recipient.id },
      ...(isGroup ? {} : { personal: true }),
    },
  };
}

/** People go by their object id in the directory, which no one can choose, and else by their id at Teams. */
export function senderOf({
  id: teamsId,
  aadObjectId,
  name,
}: z.output<typeof account>): InboundMessage['sender'] {
  const aliases = aadObjectId === undefined ? [] : [teamsId];
  return { id: aadObjectId ?? teamsId, aliases, displayName: name ?? '' };
}

/** An edit is a message of its own, distinguished by its time. */
function externalIdOf(one: WrittenActivity): string {
  return shortId(`${one.conversation.id}|${one.id}${isEdit(one) ? `|${one.timestamp ?? ''}` : ''}`);
}

function contextOf(quote: MessageContext['quote'], edited: boolean): MessageContext | undefined {
  if (quote === undefined && !edited) return undefined;
  return { ...(quote === undefined ? {} : { quote }), ...(edited ? { isEdit: true } : {}) };
}

/** Ids of conversations have no stated length. */
function shortId(text: string): string {
  if (text.length <= MAX_ID) return text;
  return `sha256:${createHash('sha256').update(text).digest('base64url')}`;
}

function mentionsOf({ entities = [] }: TeamsActivity): z.output<typeof mention>[] {
  return entities.flatMap((entity) => mention.safeParse(entity).data ?? []);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
};

/** People mention a few; more are left as they were sent. */
const MAX_MENTIONS = 50;
const MAX_NAME = 128;
/** Characters of a text with its mentions as names; Teams sends at most about 28,000. */
const MAX_TEXT = 131_072;

/** The text as people read it: without the mention of the bot, and with the others as names. */
function readableText(text: string, mentions: readonly z.output<typeof mention>[], bot: string): string {
  let shown = text;
  for (const { mentioned, text: tag } of mentions.slice(0, MAX_MENTIONS)) {
    if (tag?.startsWith('<at') !== true) continue;
    const name = (mentioned.name ?? 'someone').slice(0, MAX_NAME);
    // Split and joined: in a replacement "$" has a meaning. What would grow past the longest text is cut.
    shown = shown
      .split(tag)
      .join(mentioned.id === bot ? '' : `@${name}`)
      .slice(0, MAX_TEXT);
  }
  return shown.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity).trim();
}

const attachment = z.object({
  contentType: z.string().max(256),
  contentUrl: absent(z.string().max(4096)),
  name: absent(z.string()),
  content: absent(z.unknown()),
});
const download = z.object({ downloadUrl: z.string().max(4096), fileType: absent(z.string().max(32)) });
const reference = z.object({
  messagePreview: absent(z.string()),
  messageSender: absent(z.object({ user: absent(z.object({ displayName: absent(z.string()) })) })),
});
const DOWNLOAD = 'application/vnd.microsoft.teams.file.download.info';

interface Attached {
  readonly files: InboundFile[];
  quote?: NonNullable<MessageContext['quote']>;
}

/** Files, and the message that is answered; the text as HTML, and cards, are left out. */
function attachedTo({ attachments = [], serviceUrl: service }: TeamsActivity): Attached {
  const found: Attached = { files: [] };
  for (const value of attachments) {
    const { data } = attachment.safeParse(value);
    if (data === undefined) continue;
    if (data.contentType === 'messageReference') {
      const quote = quoteOf(data.content);
      if (quote !== undefined) found.quote ??= quote;
    } else found.files.push(...fileOf(data, service));
  }
  return found;
}

function quoteOf(content: unknown): Attached['quote'] {
  const { data } = reference.safeParse(typeof content === 'string' ? parsed(content) : content);
  if (data?.messagePreview === undefined) return undefined;
  const name = data.messageSender?.user?.displayName;
  return { author: name === undefined ? null : { name }, text: data.messagePreview };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function fileOf(
  { contentType, contentUrl, name, content }: z.output<typeof attachment>,
  service: string,
): InboundFile[] {
  if (contentType === DOWNLOAD) {
    const { data } = download.safeParse(content);
    // SharePoint's address carries a permission of its own, so it gets no credential of the bot.
    const where = data === undefined ? null : { url: data.downloadUrl };
    return [{ type: 'file', name: name ?? 'file', mimeType: '', sizeBytes: null, where }];
  }
  const type = mediaKind(contentType);
  if (type === undefined || contentUrl === undefined) return [];
  const mimeType = contentType.replace('/*', '/octet-stream');
  return [{ type, name: name ?? type, mimeType, sizeBytes: null, where: { url: contentUrl, service } }];
}
