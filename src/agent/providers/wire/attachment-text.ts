import type { ContentPart } from '../../model-provider.port.js';

type Attachment = Exclude<ContentPart, { type: 'text' }>;

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ShownImageType = (typeof IMAGE_TYPES)[number];

/** The media type without parameters, in lower case. */
export function bareType(mimeType: string): string {
  return mimeType.split(';')[0]?.trim().toLowerCase() ?? '';
}

/** The image type when both wires can show it, else undefined. */
export function shownImageType(mimeType: string): ShownImageType | undefined {
  return IMAGE_TYPES.find((type) => type === bareType(mimeType));
}

export function isPdf(mimeType: string): boolean {
  return bareType(mimeType) === 'application/pdf';
}

/** An attachment in words: a text or JSON file with its contents, anything else as a note that it cannot be shown. */
export function attachmentText(part: Attachment): string {
  const type = bareType(part.mimeType);
  const name = part.type === 'file' ? oneLine(part.name) : 'image';
  const isText = part.type === 'file' && (type.startsWith('text/') || type === 'application/json');
  if (isText) return `[attachment ${name} (${type})]\n${Buffer.from(part.data, 'base64').toString('utf8')}`;
  const bytes = Buffer.byteLength(part.data, 'base64');
  return `[attachment ${name} (${oneLine(type)}, ${bytes} bytes) cannot be shown to this model]`;
}

export function oneLine(text: string): string {
  return text.replace(/[\p{C}\s]+/gu, ' ').trim();
}
