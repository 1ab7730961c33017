/** A line that is longer than whoever reads it is ready to keep. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';

  constructor(maxBytes: number) {
    super(`A line of more than ${maxBytes} bytes was written.`);
  }
}

/** Cuts a stream of bytes into lines and holds at most one unfinished line. */
export class LineSplitter {
  private pieces: Buffer[] = [];
  private size = 0;

  constructor(private readonly maxBytes: number) {}

  /** The lines that this chunk finished, without their ends. Throws `LineTooLong`, and begins anew then. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.append(chunk.subarray(start, end));
      lines.push(this.flush());
      start = end + 1;
    }
    this.append(chunk.subarray(start));
    return lines;
  }

  private append(piece: Buffer): void {
    if (piece.length === 0) return;
    this.size += piece.length;
    if (this.size > this.maxBytes) {
      this.flush();
      throw new LineTooLong(this.maxBytes);
    }
    this.pieces.push(piece);
  }

  private flush(): string {
    const line = Buffer.concat(this.pieces).toString('utf8');
    this.pieces = [];
    this.size = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
