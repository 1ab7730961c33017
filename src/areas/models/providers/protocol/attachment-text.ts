import type { ContentPart } from '../../model-provider.port.js';

type Attachment = Exclude<ContentPart, { type: 'text' }>;

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ShownImageType = (typeof IMAGE_TYPES)[number];

/** The media type without parameters, in lower case. */
export function bareType(mimeType: string): string {
  return mimeType.split(';')[0]?.trim().toLowerCase() ?? '';
}

/** The contents as a URL. */
export function dataUrl(part: Attachment): string {
  return `data:${bareType(part.mimeType)};base64,${part.data}`;
}

/** The image type when both wires can show it, else undefined. */
export function shownImageType(mimeType: string): ShownImageType | undefined {
  return IMAGE_TYPES.find((type) => type === bareType(mimeType));
}

export function isPdf(mimeType: string): boolean {
  return bareType(mimeType) === 'application/pdf';
}

/** Media types of text beside `text/…`, and what is built on them (RFC 6839). */
const TEXT_TYPES =
  /^application\/(json|ld\+json|x-ndjson|jsonl|xml|yaml|x-yaml|toml|javascript|typescript|sql|graphql|x-sh)$|\+(json|xml|yaml)$/;

/** Whether files of this media type are read as text. */
export function isTextType(mimeType: string): boolean {
  const type = bareType(mimeType);
  return type.startsWith('text/') || TEXT_TYPES.test(type);
}

/** Whether models get the contents, and not only a note about it. */
export function canBeShown(mimeType: string): boolean {
  return shownImageType(mimeType) !== undefined || isPdf(mimeType) || isTextType(mimeType);
}

/** An attachment in words: a text file with its contents, anything else as a note that it cannot be shown. */
export function attachmentText(part: Attachment): string {
  const type = bareType(part.mimeType);
  const name = part.type === 'file' ? oneLine(part.name) : 'image';
  if (part.type === 'file' && isTextType(type))
    return `[attachment ${name} (${type})]\n${Buffer.from(part.data, 'base64').toString('utf8')}`;
  const bytes = Buffer.byteLength(part.data, 'base64');
  return `[attachment ${name} (${oneLine(type)}, ${bytes} bytes) cannot be shown to this model]`;
}

export function oneLine(text: string): string {
  return text.replace(/[\p{C}\s]+/gu, ' ').trim();
}
