/** Deep enough for the claims of every known issuer. */
const MAX_DEPTH = 16;

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The object that a part of a token contains. Undefined for anything else: bytes that are not UTF-8, text that is not
 * JSON, a value that is not an object, deep nesting, and an object with a repeated key, which two readers may read
 * differently.
 */
export function strictObject(part: string): JsonObject | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(part, 'base64url'),
    );
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return isUnambiguous(text) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether no object in valid JSON has a key twice, and nothing is nested too deep. */
function isUnambiguous(text: string): boolean {
  /** The keys of each open object; undefined for an open list. */
  const open: (Set<unknown> | undefined)[] = [];
  let string = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      string = text.slice(at, end);
      at = end - 1;
    } else if (character === '{') open.push(new Set());
    else if (character === '[') open.push(undefined);
    else if (character === '}' || character === ']') open.pop();
    else if (character === ':') {
      const keys = open.at(-1);
      const key: unknown = JSON.parse(string);
      if (keys?.has(key) === true) return false;
      keys?.add(key);
    }
    if (open.length > MAX_DEPTH) return false;
  }
  return true;
}

/** Where the string that begins at a quote ends. */
function endOfString(text: string, begin: number): number {
  let at = begin + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
