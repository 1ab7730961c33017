import { formOf, type QuestionAnswer, type QuestionRecord } from '../../tools/tools.api.js';
import { EDITED_NOTE } from '../inbound/message-text.js';
import { LINE_END, plainName } from '../inbound/sender.js';

type Asked = Pick<QuestionRecord, 'message' | 'schema' | 'url' | 'tool' | 'expiresAt'>;
type Field = ReturnType<typeof formOf>[number];

/** Redacts known secrets. */
type Hide = (text: string) => string;

const MAX_SHOWN_OPTIONS = 30;
const MAX_LINE = 200;
/** What Markdown could read as more than a letter. */
const SPECIAL = /[\\`*_[\]#~|<>&]/g;
const YES = new Set(['yes', 'y', 'ok', 'okay', 'true', 'done', 'ja', 'oui', 'si', 'sí', '👍']);
const NO = new Set(['no', 'n', 'false', 'nein', 'non', '👎']);
const DECLINE = /^\/?(?:decline|cancel)[.!]?$/i;

/**
 * A question as a person reads it in a chat. The tool wrote its message, so it is quoted, and nobody takes it for the
 * agent's. Everything else that the tool named is literal, and on one line.
 */
export function questionText(asked: Asked, hide: Hide): string {
  const quoted = hide(asked.message)
    .split(LINE_END)
    .map((line) => `> ${line}`);
  const lines = [`The tool ${asked.tool} asks:`, '', ...quoted, '', howToAnswer(asked, hide)];
  return lines.join('\n');
}

function literalLine(text: string, hide: Hide): string {
  const line = hide(text)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  const cut = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()} …` : line;
  return cut.replace(SPECIAL, '\\$&');
}

/** Without line ends or blanks, and without what Markdown could read as the words of a link. */
function literalUrl(url: string): string {
  return new URL(url).href.replaceAll('](', '%5D(');
}

/** Whether the next message of the person can be the answer. */
export function isAnswerable({ schema, url }: Asked): boolean {
  return url !== undefined || formOf(schema).length <= 1;
}

function howToAnswer(asked: Asked, hide: Hide): string {
  const secs = Math.max(1, Math.round((asked.expiresAt.getTime() - Date.now()) / 1000));
  const end = `Or write "decline". I go on without an answer in ${secs} seconds.`;
  if (asked.url !== undefined)
    return `Open this page, but only if you trust it: ${literalUrl(asked.url)}\nThen write "yes". ${end}`;
  const fields = formOf(asked.schema);
  const [field] = fields;
  if (fields.length > 1) {
    const names = fields.map(({ title }) => literalLine(title, hide)).join(', ');
    return `It wants several answers (${names}), which cannot be given here. I go on without them in ${secs} seconds, unless an operator answers.`;
  }
  return `${field === undefined ? 'Write "yes" or "no".' : wanted(field, hide)} ${end}`;
}

function wanted({ kind, title: named, options, isRequired, fallback }: Field, hide: Hide): string {
  const title = literalLine(named, hide);
  const left =
    isRequired || fallback === undefined ? '' : ` (usually ${literalLine(String(fallback), hide)})`;
  switch (kind) {
    case 'boolean':
      return `${title}: write "yes" or "no"${left}.`;
    case 'number':
    case 'integer':
      return `${title}: write a ${kind === 'integer' ? 'whole number' : 'number'}${left}.`;
    case 'text':
      return `${title}: write your answer${left}.`;
    case 'choice':
    case 'choices': {
      const shown = options
        .slice(0, MAX_SHOWN_OPTIONS)
        .map((option, index) => `${index + 1}. ${literalLine(option.title, hide)}`);
      const more =
        options.length > MAX_SHOWN_OPTIONS ? [`and ${options.length - MAX_SHOWN_OPTIONS} more`] : [];
      const how = kind === 'choice' ? 'write one of these' : 'write some of these, with commas between them';
      return [`${title}: ${how}${left}.`, '', ...shown, ...more, ''].join('\n');
    }
    default:
      return kind satisfies never;
  }
}

/** The answer that a message gives; undefined when it gives none that can be understood. */
export function answerOf({ schema, url }: Asked, said: string): QuestionAnswer | undefined {
  const text = said.trim();
  if (DECLINE.test(text)) return { action: 'decline' };
  const [field] = url === undefined ? formOf(schema) : [];
  if (field === undefined) {
    const word = plainWord(text);
    if (YES.has(word)) return url === undefined ? { action: 'accept', content: {} } : { action: 'accept' };
    return NO.has(word) ? { action: 'decline' } : undefined;
  }
  const value = givenValue(field, text);
  return value === undefined ? undefined : { action: 'accept', content: { [field.name]: value } };
}

function givenValue({ kind, options }: Field, text: string): unknown {
  switch (kind) {
    case 'boolean':
      return YES.has(plainWord(text)) || (NO.has(plainWord(text)) ? false : undefined);
    case 'number':
    case 'integer':
      return text === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);
    case 'text':
      return text;
    case 'choice':
      return optionOf(options, text);
    case 'choices': {
      const chosen = text.split(',').map((one) => optionOf(options, one));
      return chosen.includes(undefined) ? undefined : [...new Set(chosen)];
    }
    default:
      return kind satisfies never;
  }
}

/** By what it is called, or by its place in the list. */
function optionOf(options: Field['options'], text: string): string | undefined {
  const word = text.trim().toLowerCase();
  const named = options.find(({ value, title }) => [value, title].some((one) => one.toLowerCase() === word));
  return (named ?? (/^[0-9]{1,3}$/.test(word) ? options[Number(word) - 1] : undefined))?.value;
}

function plainWord(text: string): string {
  return text.toLowerCase().replace(/[.!]{1,3}$/, '');
}

/** What a person wrote, without what the inbox puts around it: the label of a group, and notes on where the message comes from. */
export function bareText({
  content,
  isGroup,
  userId,
}: {
  content: string;
  isGroup: boolean;
  userId: string;
}): string {
  const id = plainName(userId.slice(userId.indexOf(':') + 1));
  const label = `(${id}): `;
  const at = isGroup ? content.indexOf(label) : -1;
  const text = at < 0 ? content : content.slice(at + label.length);
  const lines = text.split('\n').map((line) => (isGroup ? line.replace(/^ {4}/, '') : line));
  const end = endOfNotes(lines);
  const hasNotes = end > 0 && (lines[end] ?? '') === '';
  return hasNotes ? lines.slice(end).join('\n').trim() : lines.join('\n');
}

function endOfNotes(lines: readonly string[]): number {
  let at = lines[0] === EDITED_NOTE ? 1 : 0;
  if (isNote(lines[at], '(Forwarded from ')) at += 1;
  if (!isNote(lines[at], '(In reply to ')) return at;
  const behind = lines.findIndex((line, index) => index > at && !line.startsWith('>'));
  return behind < 0 ? lines.length : behind;
}

function isNote(line: string | undefined, start: string): boolean {
  return line?.startsWith(start) === true && line.endsWith(')');
}
