import type { ContentBlock } from '@modelcontextprotocol/client';
import type { ProducedFile } from '../../tools/tools.api.js';
import { base64Bytes, shownType } from './media-bytes.js';

/** Of one result, decoded. A message of a server has no more. */
const MAX_BYTES = 10 * 1_048_576;
const MAX_FILES = 20;
const MAX_NAME = 100;
const UNTYPED = 'application/octet-stream';
const MEDIA_TYPE = /^[a-z]{1,32}\/[a-z0-9.+-]{1,64}$/;

/** What files of these types are called, when their server gives them no name with an ending. */
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
 * Pictures, sounds and embedded bytes of a result, for people: whatever they are, models need not be able to see them. Text is
 * none, because the model says it, except embedded text that its server addresses to people (`audience`). What it means for the
 * model only is left out.
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
  const last = uri.split(/[?#]/)[0]?.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

function declaredType(text: string): string {
  const type = text.split(';')[0]?.trim().toLowerCase() ?? '';
  return MEDIA_TYPE.test(type) ? type : UNTYPED;
}

/** The server chose it: no folders, nothing that cannot be seen. */
function fileName(text: string, mimeType: string): string {
  const visible = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}/\\:;*?"<>|]/gu, '_').trim();
  const name = visible.replace(/^[.\s]+/, '').slice(-MAX_NAME) || 'file';
  const ending = ENDINGS[mimeType];
  return /\.[\p{L}\p{N}]{1,8}$/u.test(name) || ending === undefined
    ? name
    : `${name.slice(0, MAX_NAME - ending.length - 1)}.${ending}`;
}
