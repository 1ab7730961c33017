import type { ServerPrompt } from './server-prompt.js';

/** In a longer message only this much of the beginning is searched. */
const SEARCHED_CHARACTERS = 8192;
const MAX_VALUE = 4096;

/** A prompt that a message asks for. */
export interface AskedPrompt {
  readonly prompt: ServerPrompt;
  readonly values: Readonly<Record<string, string>>;
  /** Required arguments that are missing in the message. */
  readonly missing: readonly ServerPrompt['arguments'][number][];
}

/** Channels put this before a message of a group: `name (id): `. */
const LABEL = /^[^():\n]*\([^():\n]*\): /;
/** Channels put this before the text: that it was edited, or what it answers. */
const NOTE = /^\((?:This is an earlier message, |In reply to )/;
/** Everything after this was written by somebody else. */
const FORWARDED = /^\(Forwarded from /;

/**
 * The prompt that a message asks for in its first word, as `/server-prompt`; the rest of that line are the arguments.
 */
export function askedPrompt(
  message: string,
  find: (command: string) => ServerPrompt | undefined,
): AskedPrompt | undefined {
  if (!message.includes('/')) return undefined;
  const [command = '', ...words] = wordsOf(firstLineOf(message.slice(0, SEARCHED_CHARACTERS)));
  const prompt = command.startsWith('/') ? find(command.slice(1).toLowerCase()) : undefined;
  return prompt && withValues(prompt, words);
}

/**
 * The first line that the writer of a message wrote themselves: undefined for a forwarded message, and never a quoted
 * line.
 */
function firstLineOf(message: string): string {
  let isAfterNote = false;
  for (const whole of message.replace(LABEL, '').split('\n')) {
    const line = whole.trim();
    if (FORWARDED.test(line)) return '';
    if (line === '') isAfterNote = false;
    else if (NOTE.test(line)) isAfterNote = true;
    else if (!isAfterNote || !line.startsWith('>')) return line;
  }
  return '';
}

/** `name=value` gives an argument by its name; other words give the rest in their order, and the last takes all that is left. */
function withValues(prompt: ServerPrompt, words: readonly string[]): AskedPrompt {
  const values: Record<string, string> = {};
  const names = new Set(prompt.arguments.map(({ name }) => name));
  const others: string[] = [];
  for (const word of words) {
    const at = word.indexOf('=');
    const name = word.slice(0, Math.max(0, at));
    if (!names.has(name) || Object.hasOwn(values, name)) others.push(word);
    else if (at + 1 < word.length) values[name] = word.slice(at + 1, at + 1 + MAX_VALUE);
  }
  const open = prompt.arguments.filter(({ name }) => !Object.hasOwn(values, name));
  open.forEach(({ name }, index) => {
    const isLast = index === open.length - 1;
    const value = isLast ? others.slice(index).join(' ') : (others[index] ?? '');
    if (value !== '') values[name] = value.slice(0, MAX_VALUE);
  });
  const missing = prompt.arguments.filter(
    ({ name, isRequired }) => isRequired && !Object.hasOwn(values, name),
  );
  return { prompt, values, missing };
}

/** Words between white space; double quotes, also after a `=`, keep several together. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (const character of line) {
    if (character === '"') {
      isQuoted = !isQuoted;
      word ??= '';
    } else if (!isQuoted && character.trim() === '') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}
