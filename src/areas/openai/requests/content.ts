import { newId } from '../../../common/ids/typeid.js';
import type { ContentPart } from '../../models/models.api.js';
import {
  type AttachmentFetcher,
  type AttachmentType,
  MAX_ATTACHED_BYTES,
  type NewAttachment,
  type RemoteAttachment,
} from '../../turns/turns.api.js';
import { InvalidParameter, UnsupportedParameter } from '../openai.errors.js';

export type Attached = NewAttachment | RemoteAttachment;

/** A piece of what a user says, in the order in which it was said. */
export type SaidPart = { readonly text: string } | { readonly attached: Attached };

const DATA_URL_MARK = ';base64,';
const AUDIO_TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', wav: 'audio/wav' };
/** The media types of names that come without one. */
const TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
};

/** A picture by its URL: with its bytes in it, or to be fetched. */
export function imageAt(url: string, path: string): SaidPart {
  if (url.startsWith('data:')) return { attached: inline('image', null, dataOf(url, path), path) };
  return { attached: remote('image', null, 'image/png', url, path) };
}

/** A file whose bytes are in the request, as a data URL or as plain base64. */
export function fileOf(data: string, name: string | undefined, path: string): SaidPart {
  const extension = (name ?? '').split('.').at(-1)?.toLowerCase() ?? '';
  const plain = { mimeType: TYPES[extension] ?? 'application/octet-stream', data };
  const given = data.startsWith('data:') ? dataOf(data, path) : plain;
  return { attached: inline('file', name ?? null, given, path) };
}

export function fileAt(url: string, path: string): SaidPart {
  return { attached: remote('file', null, 'application/octet-stream', url, path) };
}

export function soundOf(data: string, format: string, path: string): SaidPart {
  const mimeType = AUDIO_TYPES[format] ?? 'audio/mpeg';
  return { attached: inline('audio', null, { mimeType, data }, path) };
}

/** Fetches what is given by URL; see `AttachmentFetcher.complete`. */
export type CompleteAttachments = AttachmentFetcher['complete'];

/** Everything attached with its bytes, and the parts as models read them. */
export async function asParts(
  said: readonly (readonly SaidPart[])[],
  complete: CompleteAttachments,
  param: string,
): Promise<ContentPart[][]> {
  const given = said.flatMap((parts) => parts.flatMap((part) => ('attached' in part ? [part.attached] : [])));
  refuseTooMuch(given, param);
  const whole = given.length === 0 ? [] : await complete(given);
  const known = new Map(given.map((one, index) => [one, whole[index]]));
  return said.map((parts) =>
    parts.flatMap((part): ContentPart[] => {
      if ('text' in part) return part.text === '' ? [] : [{ type: 'text', text: part.text }];
      const attached = known.get(part.attached);
      return attached === undefined ? [] : [partOf(attached)];
    }),
  );
}

function partOf({ type, name, mimeType, data }: NewAttachment): ContentPart {
  const base64 = data.toString('base64');
  return type === 'image'
    ? { type: 'image', mimeType, data: base64 }
    : { type: 'file', name: name ?? type, mimeType, data: base64 };
}

/** Each is fetched, stored and read with the history separately. */
const MAX_ATTACHED = 100;

/** Throws `InvalidParameter` for more, or more bytes, than a request may bring. */
export function refuseTooMuch(given: readonly Attached[], param: string): void {
  if (given.length > MAX_ATTACHED) {
    const message = `has more than ${MAX_ATTACHED} pictures and files`;
    throw new InvalidParameter({ path: param, message });
  }
  const bytes = given.reduce((sum, one) => sum + ('data' in one ? one.sizeBytes : 0), 0);
  if (bytes > MAX_ATTACHED_BYTES)
    throw new InvalidParameter({ path: param, message: 'has more than 20 MiB of pictures and files' });
}

interface Data {
  readonly mimeType: string;
  readonly data: string;
}

function dataOf(url: string, path: string): Data {
  const mark = url.indexOf(DATA_URL_MARK);
  const mimeType = url.slice('data:'.length, mark).toLowerCase();
  if (mark === -1 || !mimeType.includes('/') || mimeType.length > 128)
    throw new InvalidParameter({ path, message: 'must be a data URL in base64 that names its media type' });
  return { mimeType: mimeType.split(';')[0] ?? mimeType, data: url.slice(mark + DATA_URL_MARK.length) };
}

function inline(type: AttachmentType, name: string | null, given: Data, path: string): NewAttachment {
  const bytes = Buffer.from(given.data, 'base64');
  if (bytes.length === 0 || bytes.length < Math.floor((given.data.length - 2) * 0.74))
    throw new InvalidParameter({ path, message: 'is not base64' });
  const { mimeType } = given;
  return {
    id: newId('att'),
    type,
    name: name?.slice(0, 128) ?? null,
    mimeType,
    sizeBytes: bytes.length,
    data: bytes,
  };
}

function remote(
  type: AttachmentType,
  name: string | null,
  mimeType: string,
  url: string,
  path: string,
): RemoteAttachment {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol) || url.length > 2048)
    throw new UnsupportedParameter(
      path,
      'must be a data URL, or an http or https URL of at most 2048 characters',
    );
  return { type, name, mimeType, url, path };
}
