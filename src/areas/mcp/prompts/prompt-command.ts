import type { ServerPrompt } from './server-prompt.js';

/** Of a longer message only its beginning is searched. */
const SEARCHED_CHARACTERS = 8192;
const MAX_VALUE = 4096;

/** A prompt that a message asks for. */
export interface AskedPrompt {
  readonly prompt: ServerPrompt;
  readonly values: Readonly<Record<string, string>>;
  /** Required arguments that the message does not give. */
  readonly missing: readonly ServerPrompt['arguments'][number][];
}

/** The first prompt that a message names as a word `/server-prompt`; what follows in its line are the arguments. */
export function askedPrompt(
  message: string,
  find: (command: string) => ServerPrompt | undefined,
): AskedPrompt | undefined {
  if (!message.includes('/')) return undefined;
  for (const line of message.slice(0, SEARCHED_CHARACTERS).split('\n')) {
    const words = wordsOf(line);
    for (const [place, word] of words.entries()) {
      const prompt = word.startsWith('/') ? find(word.slice(1).toLowerCase()) : undefined;
      if (prompt !== undefined) return withValues(prompt, words.slice(place + 1));
    }
  }
  return undefined;
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
