/** Characters that JSON leaves as they are, but that move the cursor or change the direction of text. */
const UNESCAPED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text from users, models, tools and servers must not control the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?');
}

/** The same for text of several lines. Joiners within emoji stay. */
export function shownText(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '?');
}

/** JSON for people and programs. */
export function jsonText(value: unknown): string {
  return `${escaped(JSON.stringify(value, undefined, 2))}\n`;
}

/** The same in one line. */
export function jsonLine(value: unknown): string {
  return `${escaped(JSON.stringify(value))}\n`;
}

function escaped(json: string): string {
  return json.replaceAll(UNESCAPED, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value from a server or a model as JSON, with what would control the terminal replaced. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\p{C}/gu, '?');
}
