/** Replaces a secret everywhere. */
export const REDACTED = '***REDACTED***';

/** Shorter values are not looked for: ordinary words could contain them. */
export const MIN_SECRET_LENGTH = 8;

/** Lines of a longer secret that are looked for separately. */
const MIN_LINE_LENGTH = 20;

/**
 * The forms in which a secret can appear in a text: unchanged, JSON-escaped once or twice, URL-encoded by the usual
 * encoders, and within base64 (as in Basic credentials); a secret of several lines, such as a private key, also line by
 * line. Each form has at least `MIN_SECRET_LENGTH` characters.
 */
export function secretForms(secret: string): string[] {
  // Encoders refuse lone surrogates; writing the text as UTF-8 replaces them.
  const written = Buffer.from(secret).toString();
  const forms = [secret, written, written.trim()].flatMap((plain) => [
    plain,
    jsonEscaped(plain),
    jsonEscaped(jsonEscaped(plain)),
  ]);
  forms.push(...urlEncoded(written), ...base64Cores(Buffer.from(written)), ...longLines(written));
  return [...new Set(forms)].filter((form) => form.length >= MIN_SECRET_LENGTH && !REDACTED.includes(form));
}

function longLines(text: string): string[] {
  return text.split(/[\r\n]+/).filter((line) => line.length >= MIN_LINE_LENGTH);
}

function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function urlEncoded(text: string): string[] {
  const userInfo = new URL('http://host');
  userInfo.password = text;
  const formField = new URLSearchParams({ k: text }).toString().slice(2);
  const encoded = [encodeURIComponent(text), encodeURI(text), formField, userInfo.password];
  return [...encoded, ...encoded.map((form) => form.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()))];
}

/**
 * The base64 characters of the bytes that do not depend on what comes before and after them, for each of the three
 * alignments.
 */
function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor((shifted.length * 8) / 6);
    return [shifted.toString('base64').slice(from, to), shifted.toString('base64url').slice(from, to)];
  });
}

const BLOCK = 3;
const TABLE_SIZE = 2 ** 16;
const NO_BLOCK_SHIFT = MIN_SECRET_LENGTH - BLOCK + 1;

/**
 * Finds any of many texts in one pass, and looks at about every fifth character (Wu and Manber's search over the first
 * eight characters of each). A line without a secret costs the same for a thousand secrets as for one.
 */
export class SecretFinder {
  /** By the hash of three characters: how far the window may move when it ends with them. */
  private readonly shifts = new Uint8Array(TABLE_SIZE).fill(NO_BLOCK_SHIFT);
  /** By the first eight characters: the texts that start with them, the longest first. */
  private readonly byStart = new Map<string, string[]>();

  /** The text has at least `MIN_SECRET_LENGTH` characters. */
  add(text: string): void {
    this.insert(text.slice(0, MIN_SECRET_LENGTH), text);
    for (let end = BLOCK - 1; end < MIN_SECRET_LENGTH; end++) {
      const block = blockEndingAt(text, end);
      this.shifts[block] = Math.min(this.shifts[block] as number, MIN_SECRET_LENGTH - 1 - end);
    }
  }

  /** Replaces everything found by the mark; matches that overlap or touch become one mark. */
  replaceAll(text: string): string {
    let result = '';
    let hiddenTo = -1;
    let last = MIN_SECRET_LENGTH - 1;
    while (last < text.length) {
      const shift = this.shifts[blockEndingAt(text, last)] as number;
      if (shift === 0) {
        const from = last - MIN_SECRET_LENGTH + 1;
        const to = this.longestAt(text, from);
        if (to > 0 && from > hiddenTo) result += text.slice(Math.max(hiddenTo, 0), from) + REDACTED;
        hiddenTo = Math.max(hiddenTo, to);
      }
      last += shift === 0 ? 1 : shift;
    }
    return hiddenTo < 0 ? text : result + text.slice(hiddenTo);
  }

  private insert(start: string, text: string): void {
    const same = this.byStart.get(start);
    if (same === undefined) {
      this.byStart.set(start, [text]);
    } else if (!same.includes(text)) {
      const shorter = same.findIndex((other) => other.length < text.length);
      same.splice(shorter === -1 ? same.length : shorter, 0, text);
    }
  }

  /** Where the longest of the texts that start here ends, or −1. */
  private longestAt(text: string, from: number): number {
    const candidates = this.byStart.get(text.slice(from, from + MIN_SECRET_LENGTH));
    const longest = candidates?.find((candidate) => text.startsWith(candidate, from));
    return longest === undefined ? -1 : from + longest.length;
  }
}

function blockEndingAt(text: string, end: number): number {
  const mixed = (text.charCodeAt(end - 2) << 10) ^ (text.charCodeAt(end - 1) << 5) ^ text.charCodeAt(end);
  return mixed & (TABLE_SIZE - 1);
}
