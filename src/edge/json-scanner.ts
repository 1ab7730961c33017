import { BadRequest } from '../errors/gateway-error.js';
import { malformedJson } from './json-faults.js';
import { numberEnd } from './json-number.js';
import { JsonStrings } from './json-string.js';

const MAX_NESTING = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]));

/** What may come next, in words for people. */
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
 * Reads the bytes of a JSON text once, and throws `BadRequest` for what is malformed or breaks the gateway's rules:
 * an object at the top, at most 32 levels, no NUL, no lone surrogates, only numbers that a double holds.
 * What it leaves to `JSON.parse` are raw control characters within strings.
 */
export class JsonScanner {
  private readonly strings: JsonStrings;
  private expected: Expected = 'an object';
  private depth = 0;
  /** One bit per open level, the innermost lowest: 1 is an object, 0 an array. */
  private objects = 0;

  /** The bytes must be valid UTF-8, so that no surrogate comes in unescaped. */
  constructor(
    private readonly bytes: Buffer,
    private at: number,
  ) {
    this.strings = new JsonStrings(bytes);
  }

  scan(): void {
    const { bytes } = this;
    while (this.at < bytes.length) {
      const byte = bytes[this.at] as number;
      if (byte === QUOTE) this.string();
      else if (byte === COMMA) this.comma();
      else if (byte === COLON) this.colon();
      else if (isBlank(byte)) this.at += 1;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.open(byte === OPEN_BRACE);
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.close(byte === CLOSE_BRACE);
      else if (byte === MINUS || isDigit(byte)) this.number();
      else this.literal(byte);
    }
    if (this.expected !== 'nothing more') throw this.unexpected();
  }

  private open(isObject: boolean): void {
    if (!(this.expected === 'an object' && isObject)) this.expectValue();
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
    if (!fits) throw this.unexpected();
    this.depth -= 1;
    this.objects >>>= 1;
    this.endValue(this.at + 1);
  }

  private comma(): void {
    if (this.expected === 'a comma or "}"') this.expected = 'a key in double quotes';
    else if (this.expected === 'a comma or "]"') this.expected = 'a value';
    else throw this.unexpected();
    this.at += 1;
  }

  private colon(): void {
    if (this.expected !== 'a colon') throw this.unexpected();
    this.expected = 'a value';
    this.at += 1;
  }

  private string(): void {
    const { expected } = this;
    if (expected === 'a key in double quotes' || expected === 'a key in double quotes or "}"') {
      this.at = this.strings.endOf(this.at);
      this.expected = 'a colon';
    } else {
      this.expectValue();
      this.endValue(this.strings.endOf(this.at));
    }
  }

  private number(): void {
    this.expectValue();
    this.endValue(numberEnd(this.bytes, this.at));
  }

  private literal(firstByte: number): void {
    this.expectValue();
    const word = LITERALS.get(firstByte);
    if (word === undefined) throw this.unexpected();
    for (let i = 0; i < word.length; i++) {
      if (this.bytes[this.at + i] !== word[i]) throw this.unexpected();
    }
    this.endValue(this.at + word.length);
  }

  private expectValue(): void {
    if (this.expected !== 'a value' && this.expected !== 'a value or "]"') throw this.unexpected();
  }

  private endValue(end: number): void {
    this.at = end;
    if (this.depth === 0) this.expected = 'nothing more';
    else this.expected = (this.objects & 1) === 1 ? 'a comma or "}"' : 'a comma or "]"';
  }

  private unexpected(): BadRequest {
    return malformedJson(this.bytes, this.at, this.expected);
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
