import { PluginProblem } from '../plugin-problem.js';

const MAX_U32_BYTES = 5;

/** Reads the binary form of WebAssembly. Throws `PluginProblem` where it is cut off. */
export class ByteReader {
  constructor(
    private readonly bytes: Uint8Array,
    private at = 0,
  ) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) throw new PluginProblem('the module is cut off');
    this.at += 1;
    return byte;
  }

  read(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new PluginProblem('the module is cut off');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  rest(): Uint8Array {
    return this.read(this.bytes.length - this.at);
  }

  /** An unsigned number of at most 32 bits in LEB128. */
  u32(): number {
    let value = 0;
    for (let index = 0; index < MAX_U32_BYTES; index += 1) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return value;
    }
    throw new PluginProblem('the module has a number that is too long');
  }
}

/** An unsigned number of at most 32 bits as LEB128. */
export function uleb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return [...bytes, rest];
}
