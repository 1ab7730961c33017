import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { CollectedBytes } from '../../../common/bytes/collected-bytes.js';

export const MAX_MESSAGE_BYTES = 10 * 1_048_576;
/** A message past the bounds is skipped up to this many bytes, and nothing of it is kept; a longer one counts as endless. */
export const MAX_SKIPPED_BYTES = 256 * 1_048_576;
const MAX_VALUES = 50_000;
const MAX_DEPTH = 100;
const INTERNAL_ERROR = -32_603;

/** A message of a server that is not read because it is larger than the bounds. */
export interface RefusedMessage {
  /** Why, as one sentence. */
  readonly reason: string;
  /** The id of the request that it answers; undefined when it is not a response or has no id. */
  readonly id: string | number | undefined;
}

/** Called with the reason when a message is refused; the creator of the transport logs it. */
export type OnRefused = (reason: string) => void;

/** Collects the bytes of one message, and no more of them than the bounds: 10 MiB, 50,000 values, 100 levels. */
export class BoundedMessage {
  private readonly kept = new CollectedBytes();
  private scan = new MessageScan();
  private bytes = 0;

  /** Bytes of this message so far, including those that were not kept. */
  get size(): number {
    return this.bytes;
  }

  get isTooLong(): boolean {
    return this.bytes > MAX_MESSAGE_BYTES;
  }

  /** Whether it is a request or a notification, judged by the bytes so far. */
  get isCall(): boolean {
    return this.scan.isCall;
  }

  /** The id of the request that it answers, as soon as that can be told from the bytes so far. */
  get answeredId(): string | number | undefined {
    return this.scan.isResponse && this.scan.isIdComplete ? this.scan.id : undefined;
  }

  /** Whether it is a response, judged by the bytes so far. */
  get isResponse(): boolean {
    return this.scan.isResponse;
  }

  push(piece: Uint8Array): void {
    this.bytes += piece.length;
    this.scan.push(piece);
    if (this.refusedFor === undefined) this.kept.add(piece);
    else this.kept.clear();
  }

  /** Ends this message and starts the next. Returns the whole message, or why it is refused. */
  end(): Buffer | RefusedMessage {
    const { scan, refusedFor } = this;
    const whole = refusedFor === undefined ? this.kept.take() : undefined;
    this.kept.clear();
    this.scan = new MessageScan();
    this.bytes = 0;
    return whole ?? { reason: String(refusedFor), id: scan.isCall ? undefined : scan.id };
  }

  /** Why it is refused; undefined while it is within the bounds. */
  get refusedFor(): string | undefined {
    if (this.isTooLong) return sentence(`has more than ${MAX_MESSAGE_BYTES} bytes (10 MiB)`);
    if (this.scan.values > MAX_VALUES) return sentence(`has more than ${MAX_VALUES} values`);
    return this.scan.deepest > MAX_DEPTH
      ? sentence(`is nested more than ${MAX_DEPTH} levels deep`)
      : undefined;
  }
}

/** The error that the caller gets in place of the refused response. */
export function refusal(id: string | number, reason: string): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: reason } };
}

function sentence(what: string): string {
  return `The message of the tool server ${what}, so it was not read.`;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const BLANK = 0x20;
/** No key or id that matters is longer than this. */
const MAX_WORD_LENGTH = 64;

/**
 * Scans one JSON-RPC message as its bytes arrive, without parsing or keeping it: how many values it has, how deep they
 * are nested, and which request it answers. Text around the message, such as the field names of an event stream, is
 * skipped.
 */
export class MessageScan {
  /** Commas and opening brackets: an upper bound of the number of values, off by a few. */
  values = 0;
  deepest = 0;
  /** Whether it has a method, that is, it is a request or a notification and not a response. */
  isCall = false;
  /** Whether it has a result or an error, that is, it is a response. */
  isResponse = false;
  private depth = 0;
  private isInText = false;
  /** Whether the text so far ends with a backslash that escapes what follows. */
  private isEscaping = false;
  private literal = '';
  private key = '';
  private rawId = '';

  /** The id of the message; undefined without one, or when it is neither a number nor a short text. */
  get id(): string | number | undefined {
    try {
      const id: unknown = JSON.parse(this.rawId);
      return typeof id === 'string' || typeof id === 'number' ? id : undefined;
    } catch {
      return undefined;
    }
  }

  /** Whether the whole id has been scanned: bytes to come may still belong to it until the next key or the end. */
  get isIdComplete(): boolean {
    return this.rawId !== '' && (this.depth === 0 || this.key !== 'id');
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.isInText) at = this.passText(bytes, at);
      else this.passMark(bytes[at] ?? BLANK);
    }
  }

  /** @returns where the text ends, or these bytes do */
  private passText(bytes: Uint8Array, start: number): number {
    let from = start;
    for (;;) {
      const quote = bytes.indexOf(QUOTE, from);
      const end = quote === -1 ? bytes.length : quote;
      const isEscaped = this.endsEscaping(bytes, from, end);
      this.scan(bytes, from, end);
      this.isEscaping = quote === -1 && isEscaped;
      if (quote === -1) return end;
      if (!isEscaped) {
        this.isInText = false;
        if (this.depth === 1 && this.key === 'id') this.rawId = JSON.stringify(this.literal);
        return end;
      }
      from = end + 1;
    }
  }

  /** Whether an odd number of backslashes stands before `end`. */
  private endsEscaping(bytes: Uint8Array, start: number, end: number): boolean {
    let at = end;
    while (at > start && bytes[at - 1] === BACKSLASH) at -= 1;
    const isOdd = (end - at) % 2 === 1;
    return at === start && this.isEscaping ? !isOdd : isOdd;
  }

  private scan(bytes: Uint8Array, start: number, end: number): void {
    if (this.depth !== 1 || this.literal.length > MAX_WORD_LENGTH) return;
    const last = Math.min(end, start + MAX_WORD_LENGTH + 1);
    this.literal += String.fromCharCode(...bytes.subarray(start, last));
  }

  private passMark(byte: number): void {
    switch (byte) {
      case 0x7b:
      case 0x5b:
        this.depth += 1;
        this.values += 1;
        if (this.depth > this.deepest) this.deepest = this.depth;
        return;
      case 0x7d:
      case 0x5d:
        this.depth -= 1;
        return;
      case QUOTE:
        this.isInText = this.depth > 0;
        this.literal = '';
        return;
      case COMMA:
        this.values += 1;
        if (this.depth === 1) this.key = '';
        return;
      case COLON:
        this.name();
        return;
      default:
        this.spell(byte);
    }
  }

  private spell(byte: number): void {
    if (this.depth === 1 && this.key === 'id' && byte > BLANK && this.rawId.length < MAX_WORD_LENGTH)
      this.rawId += String.fromCharCode(byte);
  }

  private name(): void {
    if (this.depth !== 1) return;
    this.key = this.literal;
    if (this.key === 'id') this.rawId = '';
    if (this.key === 'method') this.isCall = true;
    if (this.key === 'result' || this.key === 'error') this.isResponse = true;
  }
}
