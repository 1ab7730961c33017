import { isUtf8 } from 'node:buffer';
import { mediaKind } from '../../../common/text/media-type.js';
import { canBeShown } from '../../models/models.api.js';
import type { AttachmentType } from '../../turns/turns.api.js';

const UNTYPED = 'application/octet-stream';
const PDF_HEAD_BYTES = 1024;
/** 5 MB in base64: the most that every provider takes. */
const MAX_PICTURE_BYTES = 3_750_000;

/**
 * The media type under which models get a file. The bytes decide what is a picture or a PDF: models refuse a whole
 * conversation for one whose bytes are something else. A file without a media type is text when its bytes are.
 */
export function contentType(mimeType: string, data: Buffer): string {
  const picture = pictureType(data);
  if (picture !== undefined) return data.length > MAX_PICTURE_BYTES ? UNTYPED : picture;
  if (data.subarray(0, PDF_HEAD_BYTES).includes('%PDF-')) return 'application/pdf';
  const isText = isUtf8(data) && !data.includes(0);
  if (mimeType === UNTYPED) return isText ? 'text/plain' : UNTYPED;
  return canBeShown(mimeType) && !isText ? UNTYPED : mimeType;
}

/** By the first bytes, for the pictures that models are shown. */
export function pictureType(data: Buffer): string | undefined {
  if (data.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))) return 'image/png';
  if (data.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))) return 'image/jpeg';
  const start = data.toString('latin1', 0, 12);
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif';
  return /^RIFF.{4}WEBP/s.test(start) ? 'image/webp' : undefined;
}

/** As what a file of this media type is kept, however it was sent. */
export function attachmentType(mimeType: string): AttachmentType {
  return mediaKind(mimeType) ?? 'file';
}

/** What is said of a file that the model was not shown. */
export function unseenReason(type: AttachmentType, mimeType: string): string {
  if (mimeType === 'application/pdf') return 'I cannot read PDFs';
  if (type === 'image' && canBeShown(mimeType)) return 'I cannot look at pictures';
  if (type === 'audio') return 'I cannot listen to sound';
  return type === 'video' ? 'I cannot watch videos' : 'I cannot open files of this kind';
}
