interface Block {
  length: number;
  readonly capacity: number;
}

const FIRST_OFFSET = 16;
const ALIGNMENT = 16;
const FIRST_BYTES = 65_536;
const MAX_BLOCKS = 65_536;

/**
 * The memory that plugin and host share in the Extism ABI: blocks with their own offsets, separate from the linear memory.
 * Offset 0 means no block. Every call starts with an empty memory. Throws `RangeError` past `maxBytes` and for access out
 * of bounds, which ends the call.
 */
export class HostMemory {
  private bytes = new Uint8Array(FIRST_BYTES);
  private view = new DataView(this.bytes.buffer);
  private readonly blocks = new Map<number, Block>();
  private freed: number[] = [];
  private end = FIRST_OFFSET;

  constructor(private readonly maxBytes: number) {}

  get size(): number {
    return this.bytes.length;
  }

  reset(): void {
    this.blocks.clear();
    this.freed = [];
    this.end = FIRST_OFFSET;
    if (this.bytes.length > FIRST_BYTES) this.replace(new Uint8Array(FIRST_BYTES));
    else this.bytes.fill(0);
  }

  alloc(length: number): number {
    if (length === 0) return 0;
    const used = this.reuse(length);
    if (used !== undefined) return used;
    if (this.blocks.size >= MAX_BLOCKS) throw new RangeError('too many buffers at once');
    const offset = this.end;
    const capacity = Math.ceil(length / ALIGNMENT) * ALIGNMENT;
    this.ensure(offset + capacity);
    this.end = offset + capacity;
    this.blocks.set(offset, { length, capacity });
    return offset;
  }

  free(offset: number): void {
    const block = this.blocks.get(offset);
    if (block === undefined || block.length === 0) return;
    block.length = 0;
    this.freed.push(offset);
  }

  /** 0 for an offset without a block. */
  lengthOf(offset: number): number {
    return this.blocks.get(offset)?.length ?? 0;
  }

  store(bytes: Uint8Array): number {
    const offset = this.alloc(bytes.length);
    this.bytes.set(bytes, offset);
    return offset;
  }

  /** Returns a copy. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    if (offset + length > this.end) throw new RangeError('a read went past the end of the allocated buffers');
    return this.bytes.slice(offset, offset + length);
  }

  block(offset: number): Uint8Array<ArrayBuffer> {
    return this.read(offset, this.lengthOf(offset));
  }

  loadByte(offset: number): number {
    return this.view.getUint8(offset);
  }

  loadLong(offset: number): bigint {
    return this.view.getBigUint64(offset, true);
  }

  storeByte(offset: number, value: number): void {
    this.view.setUint8(offset, value);
  }

  storeLong(offset: number, value: bigint): void {
    this.view.setBigUint64(offset, value, true);
  }

  private reuse(length: number): number | undefined {
    const at = this.freed.findIndex((offset) => (this.blocks.get(offset)?.capacity ?? 0) >= length);
    const [offset] = at < 0 ? [] : this.freed.splice(at, 1);
    const block = offset === undefined ? undefined : this.blocks.get(offset);
    if (block !== undefined) block.length = length;
    return offset;
  }

  private ensure(bytes: number): void {
    if (bytes <= this.bytes.length) return;
    if (bytes > this.maxBytes)
      throw new RangeError(`its buffers would take more than ${this.maxBytes} bytes`);
    const grown = new Uint8Array(Math.min(Math.max(bytes, this.bytes.length * 2), this.maxBytes));
    grown.set(this.bytes);
    this.replace(grown);
  }

  private replace(bytes: Uint8Array<ArrayBuffer>): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }
}
