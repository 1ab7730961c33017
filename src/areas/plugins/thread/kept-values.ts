const MAX_VALUES = 1024;
const MAX_KEY_BYTES = 256;
const MAX_BYTES = 1_048_576;

/** What a plugin keeps between its calls under `kv`, in the memory of its thread: gone when that ends. */
export class KeptValues {
  private readonly values = new Map<string, Uint8Array<ArrayBuffer>>();
  private bytes = 0;

  get size(): number {
    return this.bytes;
  }

  get(key: string): Uint8Array<ArrayBuffer> | undefined {
    return this.values.get(key);
  }

  /** Throws `RangeError` past 1,024 values, 256 bytes a key and 1 MiB in all. */
  set(key: string, value: Uint8Array<ArrayBuffer>): void {
    const before = this.values.get(key);
    const bytes = this.bytes - sizeOf(key, before) + sizeOf(key, value);
    const isNew = before === undefined;
    if (key.length > MAX_KEY_BYTES || bytes > MAX_BYTES || (isNew && this.values.size >= MAX_VALUES)) {
      throw new RangeError(`more is not kept: ${MAX_VALUES} values, ${MAX_BYTES} bytes in all`);
    }
    this.values.set(key, value);
    this.bytes = bytes;
  }

  delete(key: string): void {
    this.bytes -= sizeOf(key, this.values.get(key));
    this.values.delete(key);
  }
}

function sizeOf(key: string, value: Uint8Array | undefined): number {
  return value === undefined ? 0 : Buffer.byteLength(key) + value.length;
}
