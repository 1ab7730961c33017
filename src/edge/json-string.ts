import { BadRequest } from '../errors/gateway-error.js';
import { malformedJson } from './json-faults.js';

/** Bytes looked at one by one before the native search, whose call costs about as much, takes over. */
const NEAR = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const ONE_LETTER_ESCAPES: ReadonlySet<number | undefined> = new Set(Buffer.from('"\\/bfnrt'));

/** Finds the ends of the strings of one JSON text, from first to last, and refuses escapes for NUL and lone surrogates. */
export class JsonStrings {
  /** Where the next quote and backslash are known to be; searched again only when passed, so no byte is searched twice. */
  private quoteAt = -1;
  private backslashAt = -1;

  constructor(private readonly bytes: Buffer) {}

  /** The position behind the closing quote of the string whose opening quote is at `start`. Throws `BadRequest`. */
  endOf(start: number): number {
    const { bytes } = this;
    let at = this.quoteOrBackslash(start + 1);
    while (bytes[at] === BACKSLASH) at = this.quoteOrBackslash(this.escapeEnd(at));
    if (at < bytes.length) return at + 1;
    throw malformedJson(bytes, at, `the closing quote of the string from byte ${start}`);
  }

  private quoteOrBackslash(from: number): number {
    const { bytes } = this;
    const near = Math.min(from + NEAR, bytes.length);
    for (let at = from; at < near; at++) {
      if (bytes[at] === QUOTE || bytes[at] === BACKSLASH) return at;
    }
    if (this.quoteAt < near) this.quoteAt = this.search(QUOTE, near);
    if (this.backslashAt < near) this.backslashAt = this.search(BACKSLASH, near);
    return Math.min(this.quoteAt, this.backslashAt);
  }

  private search(byte: number, from: number): number {
    const at = this.bytes.indexOf(byte, from);
    return at === -1 ? this.bytes.length : at;
  }

  private escapeEnd(at: number): number {
    const { bytes } = this;
    if (bytes[at + 1] !== LETTER_U) {
      if (ONE_LETTER_ESCAPES.has(bytes[at + 1])) return at + 2;
      throw malformedJson(bytes, at + 1, 'one of "\\/bfnrtu after a backslash');
    }
    const unit = this.codeUnit(at);
    if (unit === 0) throw new BadRequest(`The escape for NUL at byte ${at} cannot be stored; leave it out.`);
    if (unit < 0xd800 || unit > 0xdfff) return at + 6;
    const isPair = unit < 0xdc00 && bytes[at + 6] === BACKSLASH && bytes[at + 7] === LETTER_U;
    const low = isPair ? this.codeUnit(at + 6) : 0;
    if (low >= 0xdc00 && low <= 0xdfff) return at + 12;
    throw new BadRequest(
      `The escape at byte ${at} is half of a surrogate pair; send both halves or neither.`,
    );
  }

  /** The four hexadecimal digits of the escape at `at`. */
  private codeUnit(at: number): number {
    let unit = 0;
    for (let i = at + 2; i < at + 6; i++) {
      const digit = hexDigit(this.bytes[i]);
      if (digit < 0) throw malformedJson(this.bytes, i, 'a hexadecimal digit');
      unit = unit * 16 + digit;
    }
    return unit;
  }
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
