/** Characters that end a line, control a terminal or reverse the direction of text. */
const INVISIBLE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Most texts consist of these characters alone, which are all visible. */
const UNUSUAL = /[^ -~]/;

/** The text with every character that could start another line or colour a terminal replaced by an escape. */
export function visibleText(text: string): string {
  if (!UNUSUAL.test(text)) return text;
  return text.replace(INVISIBLE, (found) => SHORT[found] ?? unicodeEscape(found));
}

/** The JSON with those characters escaped in its strings; its value stays the same. */
export function visibleJson(json: string): string {
  return UNUSUAL.test(json) ? json.replace(INVISIBLE, unicodeEscape) : json;
}

function unicodeEscape(found: string): string {
  return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const BARE = /^[^\s"=\\\p{Cc}]+$/u;
/** Texts of these characters alone, mostly ids, words and addresses, are shown unchanged. */
const PLAIN = /^[\w.:/+-]+$/;

/** Fields of a parsed JSON line as ` key=value key="two words"`, on one line, in their order; empty without fields. */
export function fieldsText(fields: readonly (readonly [string, unknown])[]): string {
  let text = '';
  for (const [key, value] of fields) text += fieldText(key, value);
  return text;
}

/** One field, with a space before it. */
export function fieldText(key: string, value: unknown): string {
  return ` ${PLAIN.test(key) ? key : visibleText(key)}=${valueText(value)}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'number') return JSON.stringify(value);
  if (typeof value !== 'string') return visibleText(JSON.stringify(value));
  if (PLAIN.test(value)) return value;
  return visibleText(BARE.test(value) ? value : JSON.stringify(value));
}
