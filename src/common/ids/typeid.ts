import { randomFillSync } from 'node:crypto';

/** What an id names: sessions, messages, turns, hooks, events, tokens, attachments, requests, deliveries, approvals, questions, memories, tool calls. */
export type IdPrefix =
  | 'sess'
  | 'msg'
  | 'turn'
  | 'hook'
  | 'evt'
  | 'tok'
  | 'att'
  | 'req'
  | 'dlv'
  | 'appr'
  | 'ques'
  | 'mem'
  | 'call';

/** A TypeID: `<prefix>_` and a UUIDv7 as 26 characters of lower-case Crockford base32. */
export type Id<P extends IdPrefix = IdPrefix> = `${P}_${string}`;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TWO_TO_30 = 2 ** 30;
const TWO_TO_32 = 2 ** 32;
const RANDOM_WORDS = 1024;

/** Ten bits as two characters; every field of the id below starts on such a boundary. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);

/** 48 bits of time, version 7, variant 10: nothing else was ever minted here, so nothing else is looked up. */
const BODY = /^[0-7][0-9a-hjkmnp-tv-z]{9}[ef][0-9a-hjkmnp-tv-z]{2}[89abrstv][0-9a-hjkmnp-tv-z]{12}$/;
const BODY_LENGTH = 26;

/**
 * Mints ids that sort by text in the order they were made, also within one millisecond and when the clock steps back.
 * A UUIDv7 (RFC 9562, 6.2 method 1) whose first 44 bits after the time are a counter with a random start.
 */
export class IdSource {
  private readonly random = new Uint32Array(RANDOM_WORDS);
  private used = RANDOM_WORDS;
  private timeMs = -1;
  private timeText = '';
  /** The counter: 12 bits above 32 bits. */
  private high = 0;
  private low = 0;

  constructor(
    private readonly unixMs: () => number = Date.now,
    private readonly fillRandom: (words: Uint32Array) => void = randomFillSync,
  ) {}

  next<P extends IdPrefix>(prefix: P): Id<P> {
    const now = this.unixMs();
    if (now > this.timeMs) this.startMillisecond(now);
    else this.countUp();
    const { high, low } = this;
    const versionAndHigh = pair((7 << 6) | (high >> 6));
    const highAndVariant = pair(((high & 63) << 4) | 8 | (low >>> 30));
    return `${prefix}_${this.timeText}${versionAndHigh}${highAndVariant}${sixChars(low)}${sixChars(this.randomWord())}`;
  }

  private startMillisecond(timeMs: number): void {
    this.timeMs = timeMs;
    this.timeText = timeChars(timeMs);
    // The top bit stays free, so that a counter has at least 2^43 steps before it could run over.
    this.high = this.randomWord() & 0x7ff;
    this.low = this.randomWord();
  }

  private countUp(): void {
    this.low += 1;
    if (this.low < TWO_TO_32) return;
    this.low = 0;
    this.high += 1;
    if (this.high > 0xfff) this.startMillisecond(this.timeMs + 1);
  }

  private randomWord(): number {
    if (this.used === RANDOM_WORDS) {
      this.fillRandom(this.random);
      this.used = 0;
    }
    return this.random[this.used++] as number;
  }
}

function pair(bits: number): string {
  return PAIRS[bits & 1023] as string;
}

/** The lower 30 bits of a number below 2^32. */
function sixChars(bits: number): string {
  return pair(bits >>> 20) + pair(bits >>> 10) + pair(bits);
}

function timeChars(timeMs: number): string {
  return pair(timeMs / 2 ** 40) + pair(timeMs / TWO_TO_30) + sixChars(timeMs % TWO_TO_30);
}

/** Sorts behind the ids that were made before this time, and before those made since. */
export function idsSince(prefix: IdPrefix, timeMs: number): string {
  return `${prefix}_${timeChars(timeMs)}`;
}

const ids = new IdSource();

/** A new id; later ids of this process sort after earlier ones, whatever the clock does. */
export function newId<P extends IdPrefix>(prefix: P): Id<P> {
  return ids.next(prefix);
}

/** The id that these bytes, at least 17 of a hash, always give. It does not sort by time. */
export function idFrom<P extends IdPrefix>(prefix: P, hash: Uint8Array): Id<P> {
  const chars = Array.from({ length: BODY_LENGTH }, (_, index) => {
    const bit = index * 5;
    const twoBytes = ((hash[bit >> 3] ?? 0) << 8) | (hash[(bit >> 3) + 1] ?? 0);
    return (twoBytes >> (11 - (bit & 7))) & 31;
  });
  // The time has 48 bits, the version is 7 and the variant 10, as in every id.
  const [first = 0, version = 0, variant = 0] = [chars[0], chars[10], chars[13]];
  chars[0] = first & 7;
  chars[10] = 14 | (version & 1);
  chars[13] = 8 | (variant & 19);
  return `${prefix}_${chars.map((five) => ALPHABET[five]).join('')}`;
}

/** Whether the text is an id this gateway could have made; anything else need not be looked up. */
export function isId<P extends IdPrefix>(prefix: P, text: string): text is Id<P> {
  return (
    text.length === prefix.length + 1 + BODY_LENGTH &&
    text.startsWith(`${prefix}_`) &&
    BODY.test(text.slice(prefix.length + 1))
  );
}
