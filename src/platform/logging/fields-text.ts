import { visibleText } from './visible-text.js';

const BARE = /^[^\s"=\\\p{Cc}]+$/u;
/** Of these characters alone, a text is shown as it is; most are ids, words and addresses. */
const PLAIN = /^[\w.:/+-]+$/;

/** Fields of a parsed JSON line as ` key=value key="two words"`, on one line, in their order; empty without fields. */
export function fieldsText(fields: readonly (readonly [string, unknown])[]): string {
  let text = '';
  for (const [key, value] of fields) text += fieldText(key, value);
  return text;
}

/** One of them. */
export function fieldText(key: string, value: unknown): string {
  return ` ${PLAIN.test(key) ? key : visibleText(key)}=${valueText(value)}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'number') return JSON.stringify(value);
  if (typeof value !== 'string') return visibleText(JSON.stringify(value));
  if (PLAIN.test(value)) return value;
  return visibleText(BARE.test(value) ? value : JSON.stringify(value));
}
