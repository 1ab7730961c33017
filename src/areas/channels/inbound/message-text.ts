import { MEDIA_TYPE } from '../../../common/text/media-type.js';
import { storableJson, storableText } from '../../../platform/database/storable-text.js';
import type { InboundFile, InboundMessage, MessageContext } from '../channel-adapter.port.js';
import { labelled, plainName } from './sender.js';

/** More files of one message are not read. */
const MAX_FILES = 10;
const MAX_NAME_LENGTH = 200;
const MAX_QUOTE_LENGTH = 2000;
/** What stands before a message that is no news. */
export const EDITED_NOTE = '(This is an earlier message, which its writer has edited. It now reads:)';
const UNTYPED = 'application/octet-stream';

/** Why the model does not get a file. */
export interface FileProblem {
  /** Why it cannot be read: the end of a sentence, such as "it is larger than 20 MiB". */
  readonly reason: string;
}

/** A file of a stored message, and what became of it. */
export interface InboxFile extends InboundFile {
  readonly problem?: FileProblem;
}

/** What was sent beside the text, with names and media types that can be relied on. */
export function sentFiles({ files = [] }: Pick<InboundMessage, 'files'>): InboxFile[] {
  return files.map((file, index) => {
    const mimeType = file.mimeType.split(';')[0]?.trim().toLowerCase() ?? '';
    const problem = problemOf(file, index);
    return storableJson({
      type: file.type,
      name: oneLine(file.name) || file.type,
      mimeType: MEDIA_TYPE.test(mimeType) ? mimeType : UNTYPED,
      sizeBytes: file.sizeBytes,
      where: file.where,
      ...(problem === undefined ? {} : { problem }),
    });
  });
}

function problemOf({ where }: InboundFile, index: number): FileProblem | undefined {
  if (where === null) return { reason: 'it cannot be read here' };
  if (index < MAX_FILES) return undefined;
  return { reason: `a message may have ${MAX_FILES} files` };
}

/** As it can be stored; undefined for one whose parts are no texts, or too deep: it concerns its own sender, and the others must not wait for it. */
export function readable(message: InboundMessage): InboundMessage | undefined {
  try {
    const storable = storableJson(message);
    storableText(messageText(storable));
    JSON.stringify([storable.target, sentFiles(storable)]);
    return storable;
  } catch {
    return undefined;
  }
}

/** What the agent gets: the text, after what it refers to, and in a group after the label of its writer. */
export function messageText(message: InboundMessage): string {
  const text = withContext(message);
  const hasFiles = (message.files ?? []).some(({ where }) => where !== null);
  return message.isGroup && (text !== '' || hasFiles) ? labelled({ ...message, text }) : text;
}

function withContext({ text, context, files = [] }: InboundMessage): string {
  if (context === undefined || (text === '' && files.length === 0 && context.quote === undefined))
    return text;
  const notes = contextNotes(context);
  return text === '' ? notes : `${notes}\n\n${text}`;
}

/** Commands of prompts are looked for behind these notes, and in nothing forwarded: `askedPrompt` knows how they begin. */
function contextNotes({ quote, forwardedFrom, isEdit }: MessageContext): string {
  const notes: string[] = [];
  if (isEdit === true) notes.push(EDITED_NOTE);
  if (forwardedFrom !== undefined) notes.push(`(Forwarded from ${plainName(forwardedFrom) || 'someone'})`);
  if (quote !== undefined) notes.push(`(In reply to ${whose(quote.author)}:)\n${quoted(quote.text)}`);
  return notes.join('\n');
}

function whose(author: NonNullable<MessageContext['quote']>['author']): string {
  if (author === 'agent') return 'this message of yours';
  return author === null ? 'this message' : `this message of ${plainName(author.name) || 'someone'}`;
}

function quoted(text: string): string {
  const cut = text.length > MAX_QUOTE_LENGTH ? `${text.slice(0, MAX_QUOTE_LENGTH)} …` : text;
  return cut
    .trim()
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => `> ${line}`)
    .join('\n');
}

function oneLine(name: string): string {
  return name
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME_LENGTH);
}
