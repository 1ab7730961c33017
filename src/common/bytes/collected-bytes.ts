const LEAST_BYTES = 1024;

/**
 * Pieces of bytes in one buffer that grows. Whoever sends one byte at a time would fill a list with a hundred times what they
 * send: each piece costs some hundred bytes of its own.
 */
export class CollectedBytes {
  /** A single piece, which is not copied. */
  private only: Uint8Array | undefined;
  private buffer: Buffer | undefined;
  private size = 0;

  get length(): number {
    return this.size;
  }

  add(piece: Uint8Array): void {
    if (piece.length === 0) return;
    if (this.size === 0) {
      this.only = piece;
      this.size = piece.length;
      return;
    }
    const end = this.size + piece.length;
    const buffer = this.withRoomFor(end);
    buffer.set(piece, this.size);
    this.size = end;
  }

  /** Everything so far, in memory that it shares with what was added; starts anew. */
  take(): Buffer {
    const { only, buffer, size } = this;
    this.clear();
    if (buffer !== undefined) return buffer.subarray(0, size);
    return only === undefined ? Buffer.alloc(0) : Buffer.from(only.buffer, only.byteOffset, only.byteLength);
  }

  clear(): void {
    this.only = undefined;
    this.buffer = undefined;
    this.size = 0;
  }

  private withRoomFor(bytes: number): Buffer {
    if (this.buffer !== undefined && bytes <= this.buffer.length) return this.buffer;
    const grown = Buffer.allocUnsafeSlow(Math.max(LEAST_BYTES, bytes, 2 * this.size));
    const before = this.only ?? this.buffer;
    if (before !== undefined) grown.set(before.subarray(0, this.size));
    this.only = undefined;
    this.buffer = grown;
    return grown;
  }
}
