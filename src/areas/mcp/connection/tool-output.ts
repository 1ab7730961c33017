import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult, ContentBlock, ResourceLink } from '@modelcontextprotocol/client';
import { type ContentPart, isTextType } from '../../models/models.api.js';
import type { ToolOutput } from '../../tools/tools.api.js';
import { base64Bytes, shownType } from './media-bytes.js';
import { producedFiles } from './produced-files.js';

const MIB = 1_048_576;
const MAX_CHARACTERS = MIB;
/** Bytes, decoded. A picture of 3.75 MiB has 5 MiB in base64, and providers refuse larger ones. */
const MAX_IMAGE_BYTES = 3.75 * MIB;
const MAX_FILE_BYTES = 5 * MIB;
const MAX_RESULT_BYTES = 10 * MIB;
const MAX_PARTS = 20;
const MAX_NAME = 100;
const MAX_ABOUT = 200;

/** Bytes as a server sends them, with the name and type that it gives them. */
interface Media {
  readonly kind: 'image' | 'audio' | 'resource';
  readonly name: string;
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/**
 * The result of a tool for a model: text of at most 1,048,576 characters, and the pictures, sounds and PDFs that the
 * text names. What models cannot be shown is only named. Types are recognised by the bytes: a provider that gets a
 * picture under a wrong type refuses the whole conversation, with this call and every later one.
 */
export function toolOutput(result: CallToolResult): ToolOutput {
  const shown = new ShownParts();
  const texts = result.content.map((block) => blockText(block, shown));
  const structured = structuredText(result);
  if (structured !== undefined) texts.push(structured);
  const content = texts.join('\n').slice(0, MAX_CHARACTERS);
  const files = result.isError === true ? [] : producedFiles(result.content);
  return {
    content,
    ...(shown.parts.length === 0 ? {} : { parts: shown.parts }),
    ...(files.length === 0 ? {} : { files }),
  };
}

function blockText(block: ContentBlock, shown: ShownParts): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return shown.add({ ...block, kind: block.type, name: block.type });
    case 'resource_link':
      return linkText(block);
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return resource.text;
      const { uri, mimeType = 'application/octet-stream', blob: data } = resource;
      return shown.add({ kind: 'resource', name: uri, mimeType, data });
    }
    default:
      return block satisfies never;
  }
}

/** A model reads it with `read_resource` of the server; the gateway itself fetches nothing. */
function linkText({ name, uri, mimeType, description }: ResourceLink): string {
  const more = [mimeType, description].filter((text) => text !== undefined && text !== '');
  const about = more.length === 0 ? '' : ` (${more.join(', ').slice(0, MAX_ABOUT)})`;
  return `[resource ${name}: ${uri}${about}]`;
}

/** The parts of one result, within its bounds. */
class ShownParts {
  readonly parts: ContentPart[] = [];
  private bytes = 0;

  /** @returns the text for it: its content, or a note with its name that says why it is not shown */
  add(media: Media): string {
    const bytes = decoded(media.data);
    const size = bytes?.length ?? Math.floor((media.data.length * 3) / 4);
    if (bytes !== undefined && isText(media, bytes)) return bytes.toString('utf8');
    const type = bytes && shownType(bytes);
    const problem = this.problemOf(media, bytes, type);
    if (problem === undefined && bytes !== undefined && type !== undefined) {
      this.bytes += size;
      this.parts.push(partOf(media, type, bytes));
    }
    const subject = media.kind === 'resource' ? `resource ${media.name},` : media.kind;
    const note = `${subject} ${media.mimeType.slice(0, MAX_NAME)}, ${size} bytes`;
    return problem === undefined ? `[${note}]` : `[${note}: not shown, ${problem}]`;
  }

  private problemOf(
    { kind, data }: Media,
    bytes: Buffer | undefined,
    type: string | undefined,
  ): string | undefined {
    if (bytes === undefined) {
      return isOversized(data) ? 'larger than 5 MiB' : 'because it is not valid base64';
    }
    if (bytes.length > MAX_FILE_BYTES) return 'larger than 5 MiB';
    if (type === undefined) return 'because models cannot be shown such bytes';
    if (kind !== 'resource' && !type.startsWith(`${kind}/`)) return `because its bytes are ${type}`;
    if (type.startsWith('image/') && bytes.length > MAX_IMAGE_BYTES) return 'larger than 3.75 MiB';
    if (this.bytes + bytes.length > MAX_RESULT_BYTES) return 'because the result has more than 10 MiB';
    return this.parts.length >= MAX_PARTS ? `because the result has more than ${MAX_PARTS}` : undefined;
  }
}

function partOf({ name, kind }: Media, mimeType: string, bytes: Buffer): ContentPart {
  const data = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return { type: 'image', mimeType, data };
  const last = kind === 'resource' ? (name.split('/').at(-1) ?? '') : name;
  return { type: 'file', name: last.slice(0, MAX_NAME) || kind, mimeType, data };
}

/** A text file counts as text, with the bounds of text. */
function isText({ kind, mimeType }: Media, bytes: Buffer): boolean {
  return kind === 'resource' && isTextType(mimeType) && isUtf8(bytes);
}

function isOversized(data: string): boolean {
  return (data.length * 3) / 4 > MAX_FILE_BYTES + 2;
}

/** Undefined for invalid base64, and for base64 that is too long to be read. */
function decoded(data: string): Buffer | undefined {
  return isOversized(data) ? undefined : base64Bytes(data);
}

/** Structured content as JSON, unless the other content already says it; bytes that are content too are not repeated. */
function structuredText({ content, structuredContent }: CallToolResult): string | undefined {
  if (structuredContent === undefined || isSaid(structuredContent, content)) return undefined;
  const bytes = new Set(content.map(bytesOf));
  return JSON.stringify(structuredContent, (_, value: unknown) =>
    typeof value === 'string' && bytes.has(value) ? '[see above]' : value,
  );
}

function bytesOf(block: ContentBlock): string | undefined {
  if (block.type === 'image' || block.type === 'audio') return block.data;
  return block.type === 'resource' && 'blob' in block.resource ? block.resource.blob : undefined;
}

/** Servers repeat their structured content as JSON, or wrap what the text says in an object of one key. */
function isSaid(structured: unknown, content: readonly ContentBlock[]): boolean {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (texts.reduce((sum, { length }) => sum + length, 0) > MAX_CHARACTERS) return false;
  const values: unknown[] =
    typeof structured === 'object' && structured !== null ? Object.values(structured) : [];
  const wanted: readonly unknown[] = values.length === 1 ? [structured, values[0]] : [structured];
  const parsed = texts.map(parsedJson);
  const said: readonly unknown[] = [content, texts, parsed, ...texts, ...parsed, texts.join('\n')];
  return said.some((one) => wanted.some((value) => isDeepStrictEqual(one, value)));
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
