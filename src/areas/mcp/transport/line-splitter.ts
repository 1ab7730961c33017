/** A line that is longer than whoever reads it is ready to keep. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';

  constructor(mostBytes: number) {
    super(`A line of more than ${mostBytes} bytes was written.`);
  }
}

/** Cuts a stream of bytes into lines and holds at most one unfinished line. */
export class LineSplitter {
  private pieces: Buffer[] = [];
  private size = 0;

  constructor(private readonly mostBytes: number) {}

  /** The lines that this chunk finished, without their ends. Throws `LineTooLong`, and begins anew then. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.keep(chunk.subarray(start, end));
      lines.push(this.take());
      start = end + 1;
    }
    this.keep(chunk.subarray(start));
    return lines;
  }

  private keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.size += piece.length;
    if (this.size > this.mostBytes) {
      this.take();
      throw new LineTooLong(this.mostBytes);
    }
    this.pieces.push(piece);
  }

  private take(): string {
    const line = Buffer.concat(this.pieces).toString('utf8');
    this.pieces = [];
    this.size = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
