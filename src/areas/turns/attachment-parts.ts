import { BYTES_PER_TOKEN, type ContentPart, TOKENS_PER_IMAGE } from '../models/models.api.js';
import type { AttachmentInfo } from './message.js';

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

/** A picture is shown also when it was attached as a file; one that is text (SVG) can be read. */
function isPicture(mimeType: string): boolean {
  return mimeType.startsWith('image/') && !mimeType.endsWith('+xml');
}
