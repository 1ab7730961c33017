export interface Answer {
  readonly status: number;
  /** The head and the part of the body that came with it, for error messages. */
  readonly beginning: string;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Splits a keep-alive connection into responses. Supports only bodies with a Content-Length, as the servers here send
 * them.
 */
export class AnswerReader {
  private head: Buffer = Buffer.alloc(0);
  private bodyLeft = 0;
  private answer: Answer | undefined;

  /** @returns the response that this chunk completes; at most one is pending */
  push(chunk: Buffer): Answer | undefined {
    if (this.answer === undefined) this.readHead(chunk);
    else this.bodyLeft -= chunk.length;
    if (this.answer === undefined || this.bodyLeft > 0) return undefined;
    const complete = this.answer;
    this.answer = undefined;
    return complete;
  }

  private readHead(chunk: Buffer): void {
    this.head = this.head.length === 0 ? chunk : Buffer.concat([this.head, chunk]);
    const end = this.head.indexOf(HEAD_END);
    if (end === -1) return;
    const text = this.head.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    if (length === undefined) throw new Error(`An answer without a length:\n${text}`);
    this.bodyLeft = Number(length) - (this.head.length - end - HEAD_END.length);
    this.answer = { status: Number(text.slice(9, 12)), beginning: this.head.toString('utf8', 0, end + 400) };
    this.head = Buffer.alloc(0);
  }
}
