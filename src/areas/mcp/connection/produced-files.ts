import type { ContentBlock } from '@modelcontextprotocol/client';
import { percentDecoded } from '../../../common/text/percent-decoded.js';
import type { ProducedFile } from '../../tools/tools.api.js';
import { base64Bytes, shownType } from './media-bytes.js';

/** For one result, decoded. A server's message cannot have more. */
const MAX_BYTES = 10 * 1_048_576;
const MAX_FILES = 20;
const MAX_NAME = 100;
const UNTYPED = 'application/octet-stream';
const MEDIA_TYPE = /^[a-z]{1,32}\/[a-z0-9.+-]{1,64}$/;

/** Endings for files of these types whose server gives them no name with an ending. */
const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'application/zip': 'zip',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
};

/**
 * Pictures, sounds and embedded bytes of a result, for people, whether or not models can see them. Text is left out,
 * because the model repeats it, except embedded text that the server addresses to people (`audience`). What the server
 * means for the model only is left out too.
 */
export function producedFiles(content: readonly ContentBlock[]): readonly ProducedFile[] {
  const files: ProducedFile[] = [];
  let room = MAX_BYTES;
  for (const block of content) {
    const media = mediaOf(block);
    const isForPeople = block.annotations?.audience?.includes('user') !== false;
    if (media === undefined || !isForPeople || files.length >= MAX_FILES) continue;
    const data = media.data.length > room * 2 ? undefined : base64Bytes(media.data);
    if (data === undefined || data.length === 0 || data.length > room) continue;
    room -= data.length;
    const mimeType = shownType(data) ?? declaredType(media.mimeType);
    files.push({ name: fileName(media.name, mimeType), mimeType, data });
  }
  return files;
}

function mediaOf(block: ContentBlock): { name: string; mimeType: string; data: string } | undefined {
  if (block.type === 'image' || block.type === 'audio') return { ...block, name: block.type };
  if (block.type !== 'resource') return undefined;
  const { resource, annotations } = block;
  const { uri, mimeType } = resource;
  if ('blob' in resource) return { name: lastPart(uri), mimeType: mimeType ?? UNTYPED, data: resource.blob };
  if (annotations?.audience?.includes('user') !== true || resource.text.length > MAX_BYTES) return undefined;
  const data = Buffer.from(resource.text).toString('base64');
  return { name: lastPart(uri), mimeType: mimeType ?? 'text/plain', data };
}

function lastPart(uri: string): string {
  return percentDecoded(uri.split(/[?#]/)[0]?.split('/').at(-1) ?? '');
}

function declaredType(text: string): string {
  const type = text.split(';')[0]?.trim().toLowerCase() ?? '';
  return MEDIA_TYPE.test(type) ? type : UNTYPED;
}

/** The server chose the name, so it keeps no folders and nothing invisible. */
function fileName(text: string, mimeType: string): string {
  const visible = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}/\\:;*?"<>|]/gu, '_').trim();
  const name = visible.replace(/^[.\s]+/, '').slice(-MAX_NAME) || 'file';
  const ending = ENDINGS[mimeType];
  return /\.[\p{L}\p{N}]{1,8}$/u.test(name) || ending === undefined
    ? name
    : `${name.slice(0, MAX_NAME - ending.length - 1)}.${ending}`;
}
