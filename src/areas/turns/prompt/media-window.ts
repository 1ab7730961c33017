import {
  BYTES_PER_TOKEN,
  type ContentPart,
  type ModelMessage,
  type ModelToolResult,
  TOKENS_PER_IMAGE,
} from '../../models/models.api.js';
import type { AttachmentInfo } from '../message.js';

/** A picture or file that would be sent. */
export interface SizedMedia<Key> {
  readonly key: Key;
  readonly bytes: number;
}

type Attachment = Exclude<ContentPart, { type: 'text' }>;

/**
 * The share of the limit that is left after something is left out: a whole block goes, so that the new prefix lasts for
 * many calls.
 */
const SHARE_AFTER = 0.6;

/**
 * Which pictures and files are left out, the oldest first, so that the rest has at most so many bytes; those of the
 * last message always stay. Depends only on what was said so far: one more message changes nothing, or leaves out one
 * block more.
 * @param messages what each message brings, the oldest first
 */
export function leftOutMedia<Key>(
  messages: Iterable<readonly SizedMedia<Key>[]>,
  maxBytes: number,
): ReadonlySet<Key> {
  const kept: SizedMedia<Key>[] = [];
  const leftOut = new Set<Key>();
  let bytes = 0;
  for (const brought of messages) {
    kept.push(...brought);
    bytes += brought.reduce((sum, one) => sum + one.bytes, 0);
    if (bytes <= maxBytes) continue;
    while (bytes > SHARE_AFTER * maxBytes && kept.length > brought.length) {
      const oldest = kept.shift() as SizedMedia<Key>;
      bytes -= oldest.bytes;
      leftOut.add(oldest.key);
    }
  }
  return leftOut;
}

/** The messages with a note in place of each picture and file that is left out. */
export function withinMedia(messages: readonly ModelMessage[], maxBytes: number): readonly ModelMessage[] {
  if (!messages.some(hasMedia)) return messages;
  const brought = messages.map((message) =>
    partsOf(message)
      .filter(isMedia)
      .map((part) => ({ key: part, bytes: bytesOf(part) })),
  );
  const leftOut: ReadonlySet<ContentPart> = leftOutMedia(brought, maxBytes);
  if (leftOut.size === 0) return messages;
  return mediaReplaced(messages, (part) => (isMedia(part) && leftOut.has(part) ? leftOutNote(part) : part));
}

/** The messages with each picture or file of users and tools replaced by another part. */
export function mediaReplaced(
  messages: readonly ModelMessage[],
  replace: (part: ContentPart) => ContentPart,
): readonly ModelMessage[] {
  return messages.map((message) => {
    if (message.role === 'user') return { ...message, parts: message.parts.map(replace) };
    if (message.role !== 'tool') return message;
    return { ...message, results: message.results.map((result) => withParts(result, replace)) };
  });
}

/** Stands in place of a picture or file that is left out. */
export function leftOutNote(
  part: Pick<Attachment, 'type' | 'mimeType'> & { readonly name?: string },
): ContentPart {
  const name = part.type === 'file' ? (part.name ?? 'file') : 'picture';
  const text = `[attachment ${name} (${part.mimeType}) is left out, because this conversation holds many]`;
  return { type: 'text', text };
}

/** How many bytes a part has. */
export function bytesOf({ data }: Attachment): number {
  return Buffer.byteLength(data, 'base64');
}

function withParts(result: ModelToolResult, noted: (part: ContentPart) => ContentPart): ModelToolResult {
  return result.parts === undefined ? result : { ...result, parts: result.parts.map(noted) };
}

function partsOf(message: ModelMessage): readonly ContentPart[] {
  if (message.role === 'user') return message.parts;
  return message.role === 'tool' ? message.results.flatMap(({ parts = [] }) => parts) : [];
}

function hasMedia(message: ModelMessage): boolean {
  if (message.role === 'user') return message.parts.some(isMedia);
  return message.role === 'tool' && message.results.some(({ parts }) => parts?.some(isMedia));
}

export function isMedia(part: ContentPart): part is Attachment {
  return part.type !== 'text';
}

/** Estimated, before the bytes are read. */
export function attachmentTokens({ type, sizeBytes }: AttachmentInfo): number {
  return type === 'image' ? TOKENS_PER_IMAGE : Math.ceil(sizeBytes / BYTES_PER_TOKEN);
}

export function attachmentPart(info: AttachmentInfo, data: string): Exclude<ContentPart, { type: 'text' }> {
  const { mimeType } = info;
  return info.type === 'image' || (info.type === 'file' && isPicture(mimeType))
    ? { type: 'image', mimeType, data }
    : { type: 'file', name: info.name ?? info.type, mimeType, data };
}

/** A picture is shown even if it was attached as a file; a picture that is text (SVG) can be read. */
function isPicture(mimeType: string): boolean {
  return mimeType.startsWith('image/') && !mimeType.endsWith('+xml');
}
