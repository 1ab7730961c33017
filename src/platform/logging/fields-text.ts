import { visibleText } from './visible-text.js';

const BARE = /^[^\s"=\\\p{Cc}]+$/u;

/** Fields of a parsed JSON line as ` key=value key="two words"`, on one line, in their order; empty without fields. */
export function fieldsText(fields: readonly (readonly [string, unknown])[]): string {
  return fields.map(([key, value]) => ` ${visibleText(key)}=${valueText(value)}`).join('');
}

function valueText(value: unknown): string {
  if (typeof value === 'string' && BARE.test(value)) return visibleText(value);
  return visibleText(JSON.stringify(value));
}
