import type { Message, Part } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { newId } from '../../common/ids/typeid.js';
import { MEDIA_TYPE, mediaKind } from '../../common/text/media-type.js';
import {
  type AttachmentType,
  MAX_ATTACHED_BYTES,
  MAX_ATTACHMENTS,
  type NewAttachment,
  type RemoteAttachment,
} from '../turns/turns.api.js';

const MAX_TEXT_BYTES = 262_144;
const MAX_URL = 2048;
const MAX_NAME = 128;
const UNTYPED = 'application/octet-stream';

/** The content of another agent's message. */
export interface SaidParts {
  readonly content: string;
  readonly attachments: readonly (NewAttachment | RemoteAttachment)[];
}

/** Text as it is, data as JSON, and files as attachments. Throws `RequestMalformedError`, which names the part. */
export function saidParts({ parts }: Message): SaidParts {
  const texts = parts.flatMap(textOf);
  if (parts.filter(isFile).length > MAX_ATTACHMENTS)
    throw new RequestMalformedError(`parts: must have at most ${MAX_ATTACHMENTS} files`);
  const attachments = parts.flatMap(attachmentOf);
  const content = texts.join('\n\n');
  const isEmpty = content.trim() === '' && attachments.length === 0;
  if (isEmpty || Buffer.byteLength(content) > MAX_TEXT_BYTES)
    throw new RequestMalformedError('parts: must be 1 byte to 256 KiB of text, or have files');
  const bytes = attachments.reduce((sum, one) => sum + ('data' in one ? one.sizeBytes : 0), 0);
  if (bytes > MAX_ATTACHED_BYTES) throw new RequestMalformedError('parts: have more than 20 MiB of files');
  return { content, attachments };
}

function textOf({ content }: Part, index: number): string[] {
  switch (content?.$case) {
    case 'text':
      return [content.value];
    case 'data':
      return [JSON.stringify(content.value)];
    case 'raw':
    case 'url':
      return [];
    default:
      throw new RequestMalformedError(`parts[${index}]: must be text, data, raw or url`);
  }
}

function isFile({ content }: Part): boolean {
  return content?.$case === 'raw' || content?.$case === 'url';
}

function attachmentOf(
  { content, filename, mediaType }: Part,
  index: number,
): (NewAttachment | RemoteAttachment)[] {
  if (content?.$case !== 'raw' && content?.$case !== 'url') return [];
  const mimeType = mediaType === '' ? UNTYPED : mediaType.toLowerCase();
  if (!MEDIA_TYPE.test(mimeType))
    throw new RequestMalformedError(`parts[${index}].mediaType: must be a media type`);
  if (filename.length > MAX_NAME)
    throw new RequestMalformedError(`parts[${index}].filename: must have at most ${MAX_NAME} characters`);
  const type: AttachmentType = mediaKind(mimeType) ?? 'file';
  const common = { type, name: filename === '' ? null : filename, mimeType };
  if (content.$case === 'url')
    return [{ ...common, url: fetchable(content.value, index), path: `parts[${index}].url` }];
  const data = Buffer.from(content.value);
  if (data.length === 0)
    throw new RequestMalformedError(`parts[${index}].raw: must be base64 of at least one byte`);
  return [{ ...common, id: newId('att'), sizeBytes: data.length, data }];
}

function fetchable(url: string, index: number): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && url.length <= MAX_URL) return url;
  throw new RequestMalformedError(
    `parts[${index}].url: must be an http or https URL of at most ${MAX_URL} characters`,
  );
}
