import { BadRequest } from '../../common/errors/gateway-error.js';

const MAX_NESTING = 32;
/** Values of a body, each list, object, text, number, `true`, `false` and `null` counted; keys are not. */
const MAX_VALUES = 50_000;
/** Keys of all objects of a body: a new one costs `JSON.parse` as much as twenty values. */
const MAX_KEYS = 10_000;
/** Characters of one number; a double's longest exact form is about as long. */
const MAX_NUMBER_LENGTH = 1100;
/** Digits that always lie below 2^53. */
const SAFE_DIGITS = 15;
/** Bytes of a string looked at one by one before the native search, whose call costs about as much, takes over. */
const NEAR = 64;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** What `isOfNumber` says of a digit; of the other characters of a number it says 1. */
const DIGIT = 2;
const NUMBER = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/;
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]));
const isBlank = table('\t\n\r ');
const isOfNumber = table('0123456789+-.eE').fill(DIGIT, 0x30, 0x3a);
const isOneLetterEscape = table('"\\/bfnrt');
const hexDigit = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? -1 : digit;
});

/** What may come next, as error messages name it. */
type Expected =
  | 'an object'
  | 'a value'
  | 'a value or "]"'
  | 'a key in double quotes'
  | 'a key in double quotes or "}"'
  | 'a colon'
  | 'a comma or "}"'
  | 'a comma or "]"'
  | 'nothing more';

/**
 * One pass over the bytes of a JSON text, before anything of it is parsed (docs/specification/additions.md, Bodies).
 * Throws `BadRequest` at the first byte that is malformed or breaks a rule: an object at the top, at most 32 levels,
 * 50,000 values and 10,000 keys, no NUL and no lone surrogates, only numbers that a double holds. What it costs is
 * bounded by the bytes, and what `JSON.parse` makes of them afterwards by the values. Raw control characters within
 * strings are left to `JSON.parse`.
 */
export class JsonScanner {
  private expected: Expected = 'an object';
  private values = 0;
  private keys = 0;
  private depth = 0;
  /** One bit per open level, the innermost lowest: 1 is an object, 0 a list. */
  private objects = 0;
  /** Where the next quote and backslash are known to be; searched again only when passed, so no byte is searched twice. */
  private quoteAt = -1;
  private backslashAt = -1;

  /** The bytes must be valid UTF-8, which excludes unescaped surrogates. */
  constructor(
    private readonly bytes: Buffer,
    private at: number,
  ) {}

  scan(): void {
    const { bytes } = this;
    while (this.at < bytes.length) {
      const byte = bytes[this.at] as number;
      if (byte === QUOTE) this.string();
      else if (byte === COMMA) this.comma();
      else if (byte === COLON) this.colon();
      else if (isBlank[byte] === 1) this.skipBlanks();
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.open(byte === OPEN_BRACE);
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.close(byte === CLOSE_BRACE);
      else if (byte === MINUS || (byte >= 0x30 && byte <= 0x39)) this.number();
      else this.literal(byte);
    }
    if (this.expected !== 'nothing more') throw this.malformed(this.expected);
  }

  /** Values and keys of what was scanned. */
  get size(): number {
    return this.values + this.keys;
  }

  private skipBlanks(): void {
    let { at } = this;
    while (isBlank[this.bytes[at] ?? 0] === 1) at += 1;
    this.at = at;
  }

  private open(isObject: boolean): void {
    if (this.expected === 'an object' && isObject) this.values = 1;
    else this.openValue();
    if (this.depth === MAX_NESTING) {
      throw new BadRequest(`The body is nested deeper than ${MAX_NESTING} levels, at byte ${this.at}.`);
    }
    this.depth += 1;
    this.objects = (this.objects << 1) | (isObject ? 1 : 0);
    this.expected = isObject ? 'a key in double quotes or "}"' : 'a value or "]"';
    this.at += 1;
  }

  private close(isObject: boolean): void {
    const { expected } = this;
    const fits = isObject
      ? expected === 'a comma or "}"' || expected === 'a key in double quotes or "}"'
      : expected === 'a comma or "]"' || expected === 'a value or "]"';
    if (!fits) throw this.malformed(expected);
    this.depth -= 1;
    this.objects >>>= 1;
    this.endValue(this.at + 1);
  }

  private comma(): void {
    if (this.expected === 'a comma or "}"') this.expected = 'a key in double quotes';
    else if (this.expected === 'a comma or "]"') this.expected = 'a value';
    else throw this.malformed(this.expected);
    this.at += 1;
  }

  private colon(): void {
    if (this.expected !== 'a colon') throw this.malformed(this.expected);
    this.expected = 'a value';
    this.at += 1;
  }

  private string(): void {
    if (this.expected === 'a key in double quotes' || this.expected === 'a key in double quotes or "}"') {
      this.keys += 1;
      if (this.keys > MAX_KEYS) throw this.tooMany(MAX_KEYS, 'keys');
      this.at = this.stringEnd();
      this.expected = 'a colon';
    } else {
      this.openValue();
      this.endValue(this.stringEnd());
    }
  }

  private literal(firstByte: number): void {
    this.openValue();
    const word = LITERALS.get(firstByte);
    const end = this.at + (word?.length ?? 0);
    if (word === undefined || this.bytes.toString('latin1', this.at, end) !== word)
      throw this.malformed('a value');
    this.endValue(end);
  }

  /**
   * Refuses integers beyond ±(2^53−1) and what is too large or too small for a double. A fraction is a measure and may
   * be rounded, as every JSON reader does (RFC 8259, 6; RFC 7493, 2.2).
   */
  private number(): void {
    this.openValue();
    const { bytes, at } = this;
    let end = at + 1;
    while (isOfNumber[bytes[end] ?? 0] === DIGIT) end += 1;
    const isPlain = isOfNumber[bytes[end] ?? 0] === 0 && end - at <= SAFE_DIGITS;
    if (isPlain && bytes[at] !== MINUS && bytes[at] !== ZERO) this.endValue(end);
    else this.unusualNumber();
  }

  private unusualNumber(): void {
    const { bytes, at } = this;
    let end = at;
    const limit = at + MAX_NUMBER_LENGTH + 1;
    while (end < limit && isOfNumber[bytes[end] ?? 0] !== 0) end += 1;
    const [text, fraction, exponent] = NUMBER.exec(bytes.toString('latin1', at, end)) ?? [];
    if (text === undefined) throw malformedJson(bytes, at + 1, 'a digit');
    if (fraction === undefined && exponent === undefined) {
      if (!Number.isSafeInteger(Number(text)))
        throw this.numberFault('integer', 'lies beyond ±9007199254740991 and would be rounded');
    } else this.checkRange(text, end === limit);
    this.endValue(at + text.length);
  }

  private checkRange(text: string, isCut: boolean): void {
    const value = Number(text);
    if (!Number.isFinite(value)) throw this.numberFault('number', 'is too large for a double');
    if (isCut) throw this.numberFault('number', `has more than ${MAX_NUMBER_LENGTH} characters`);
    if (value === 0 && /^[^eE]*[1-9]/.test(text))
      throw this.numberFault('number', 'is too small for a double');
  }

  private numberFault(what: string, why: string): BadRequest {
    return new BadRequest(`The ${what} at byte ${this.at} ${why}; send it as a string.`);
  }

  private openValue(): void {
    if (this.expected !== 'a value' && this.expected !== 'a value or "]"')
      throw this.malformed(this.expected);
    this.values += 1;
    if (this.values > MAX_VALUES) throw this.tooMany(MAX_VALUES, 'values');
  }

  private tooMany(most: number, what: string): BadRequest {
    return new BadRequest(`The body holds more than ${most} ${what}, at byte ${this.at}.`);
  }

  private endValue(end: number): void {
    this.at = end;
    if (this.depth === 0) this.expected = 'nothing more';
    else this.expected = (this.objects & 1) === 1 ? 'a comma or "}"' : 'a comma or "]"';
  }

  /** The position behind the closing quote of the string that begins here; on its way the escapes are checked. */
  private stringEnd(): number {
    const { bytes, at: start } = this;
    let at = this.quoteOrBackslash(start + 1);
    while (bytes[at] === BACKSLASH) at = this.quoteOrBackslash(this.escapeEnd(at));
    if (at < bytes.length) return at + 1;
    throw malformedJson(bytes, at, `the closing quote of the string from byte ${start}`);
  }

  private quoteOrBackslash(from: number): number {
    const { bytes } = this;
    const near = Math.min(from + NEAR, bytes.length);
    for (let at = from; at < near; at++) if (bytes[at] === QUOTE || bytes[at] === BACKSLASH) return at;
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
      if (isOneLetterEscape[bytes[at + 1] ?? 0] === 1) return at + 2;
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
      const digit = hexDigit[this.bytes[i] ?? 0] as number;
      if (digit < 0) throw malformedJson(this.bytes, i, 'a hexadecimal digit');
      unit = unit * 16 + digit;
    }
    return unit;
  }

  private malformed(expected: string): BadRequest {
    return malformedJson(this.bytes, this.at, expected);
  }
}

/** Which bytes are among `characters`: 1 or 0 for each of the 256. */
function table(characters: string): Uint8Array {
  const bytes = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) bytes[byte] = 1;
  return bytes;
}

/** The error for a body that is no JSON object: what was expected where, and at most one character of what was found. */
function malformedJson(bytes: Buffer, at: number, expected: string): BadRequest {
  const found = describe(bytes[at]);
  // `[]` and `null` are valid JSON, so the sentence must not call them invalid.
  if (expected === 'an object')
    return new BadRequest(`The body has to be a JSON object: found ${found} at byte ${at}.`);
  return new BadRequest(`The body is not valid JSON: expected ${expected} at byte ${at}, found ${found}.`);
}

function describe(byte: number | undefined): string {
  if (byte === undefined) return 'the end';
  const isPrintable = byte > 0x20 && byte < 0x7f;
  return isPrintable ? `'${String.fromCharCode(byte)}'` : `byte 0x${byte.toString(16).padStart(2, '0')}`;
}
