import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { MessageScan } from './message-scan.js';

export const MAX_MESSAGE_BYTES = 10 * 1_048_576;
const MAX_VALUES = 50_000;
const MAX_DEPTH = 100;
const INTERNAL_ERROR = -32_603;

/** A message of a server that is not read, because it is larger than the bounds. */
export interface RefusedMessage {
  /** Why, in a sentence. */
  readonly reason: string;
  /** Of the request that it answers; undefined when it is no answer, or does not say of what. */
  readonly id: string | number | undefined;
}

/** Says that a message was refused; logged by whoever made the transport. */
export type OnRefused = (reason: string) => void;

/** Collects the bytes of one message, and no more of them than the bounds: 10 MiB, 50,000 values, 100 levels. */
export class BoundedMessage {
  private pieces: Uint8Array[] = [];
  private scan = new MessageScan();
  private bytes = 0;

  /** Bytes of this message so far, also those that were not kept. */
  get size(): number {
    return this.bytes;
  }

  get isTooLong(): boolean {
    return this.bytes > MAX_MESSAGE_BYTES;
  }

  /** Whether it is a request or a notification, as far as it has come. */
  get isCall(): boolean {
    return this.scan.isCall;
  }

  push(piece: Uint8Array): void {
    this.bytes += piece.length;
    this.scan.push(piece);
    if (this.refusedFor === undefined) this.pieces.push(piece);
    else this.pieces = [];
  }

  /** The whole message, or why it is refused; another one begins. */
  end(): Buffer | RefusedMessage {
    const { scan, refusedFor } = this;
    const whole = refusedFor === undefined ? Buffer.concat(this.pieces) : undefined;
    this.pieces = [];
    this.scan = new MessageScan();
    this.bytes = 0;
    return whole ?? { reason: String(refusedFor), id: scan.isCall ? undefined : scan.id };
  }

  /** Why it is not kept; undefined while it is within the bounds. */
  get refusedFor(): string | undefined {
    if (this.isTooLong) return sentence(`has more than ${MAX_MESSAGE_BYTES} bytes (10 MiB)`);
    if (this.scan.values > MAX_VALUES) return sentence(`has more than ${MAX_VALUES} values`);
    return this.scan.deepest > MAX_DEPTH
      ? sentence(`is nested more than ${MAX_DEPTH} levels deep`)
      : undefined;
  }
}

/** What a caller is given instead of the answer that was refused. */
export function refusal(id: string | number, reason: string): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: reason } };
}

function sentence(what: string): string {
  return `The message of the tool server ${what}, so it was not read.`;
}
