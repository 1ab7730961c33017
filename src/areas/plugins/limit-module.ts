import { PluginProblem } from './plugin.js';

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const CUSTOM_SECTION = 0;
const TABLE_SECTION = 4;
const MEMORY_SECTION = 5;
const EXPORT_SECTION = 7;
const MEMORY_EXPORT = 2;
const PAGE_BYTES = 65_536;
const MAX_TABLES = 8;
const MAX_TABLE_ENTRIES = 65_536;
const HAS_MAXIMUM = 1;
const FUNCTION_REFERENCE = 0x70;

/** The additional name under which the memory is exported for the host. */
export const MEMORY_NAME = 'agent-gateway:memory';

/**
 * Rewrites a module with a maximum for its memory and its tables, so that the engine itself refuses to grow past them.
 * Custom sections (names, debugging) are dropped. Imports are checked when the module is compiled. Throws `PluginProblem`
 * for a file that is not a module, one that needs more from the start, and shared or 64-bit memory.
 */
export function limitModule(bytes: Uint8Array, memoryBytes: number): Uint8Array<ArrayBuffer> {
  if (HEADER.some((byte, at) => bytes[at] !== byte))
    throw new PluginProblem('the file is not a core WebAssembly module');
  const reader = new ByteReader(bytes, HEADER.length);
  const parts: Uint8Array[] = [Uint8Array.from(HEADER)];
  let hasMemory = false;
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const content = reader.read(reader.u32());
    if (id === CUSTOM_SECTION) continue;
    const body = limited(id, content, memoryBytes, hasMemory);
    hasMemory ||= id === MEMORY_SECTION && body[0] !== 0;
    parts.push(Uint8Array.of(id, ...uleb(body.length)), body);
  }
  return new Uint8Array(Buffer.concat(parts));
}

function limited(id: number, content: Uint8Array, memoryBytes: number, hasMemory: boolean): Uint8Array {
  if (id === MEMORY_SECTION) return limitMemories(new ByteReader(content), memoryBytes);
  if (id === TABLE_SECTION) return limitTables(new ByteReader(content));
  if (id === EXPORT_SECTION && hasMemory) return exportMemory(new ByteReader(content));
  return content;
}

/** Adds the export `MEMORY_NAME`. A module that uses this name itself does not compile then. */
function exportMemory(reader: ByteReader): Uint8Array {
  const count = reader.u32();
  const name = Buffer.from(MEMORY_NAME);
  return Buffer.concat([
    Uint8Array.from(uleb(count + 1)),
    reader.rest(),
    Uint8Array.from([...uleb(name.length), ...name, MEMORY_EXPORT, 0]),
  ]);
}

function limitMemories(reader: ByteReader, memoryBytes: number): Uint8Array {
  const count = reader.u32();
  if (count > 1) throw new PluginProblem('the module has more than one memory');
  if (count === 0) return Uint8Array.of(0);
  const most = Math.floor(memoryBytes / PAGE_BYTES);
  return Uint8Array.of(
    1,
    ...limits(reader, most, (least) => {
      const mebibytes = Math.ceil((least * PAGE_BYTES) / 1_048_576);
      return `the module asks for ${mebibytes} MiB at its start, and its limit is ${memoryBytes / 1_048_576} MiB`;
    }),
  );
}

function limitTables(reader: ByteReader): Uint8Array {
  const count = reader.u32();
  if (count > MAX_TABLES) throw new PluginProblem(`the module has more than ${MAX_TABLES} tables`);
  const tables = Array.from({ length: count }, () => {
    const type = reader.byte();
    // Other tables, and tables with an initial value, need proposals that this host does not support.
    if (type !== FUNCTION_REFERENCE)
      throw new PluginProblem('the module has a table of something other than functions');
    return [
      type,
      ...limits(reader, MAX_TABLE_ENTRIES, (least) => `the module asks for a table of ${least} entries`),
    ];
  });
  return Uint8Array.from([...uleb(count), ...tables.flat()]);
}

/** Reads the limits of a memory or a table and returns them with a maximum. */
function limits(reader: ByteReader, most: number, tooMuch: (least: number) => string): number[] {
  const flags = reader.byte();
  if (flags > HAS_MAXIMUM) throw new PluginProblem('the module asks for shared or 64-bit memory');
  const least = reader.u32();
  const own = flags === HAS_MAXIMUM ? reader.u32() : most;
  if (least > most) throw new PluginProblem(tooMuch(least));
  return [HAS_MAXIMUM, ...uleb(least), ...uleb(Math.min(own, most))];
}

const MAX_U32_BYTES = 5;

/** Reads the binary format of WebAssembly. Throws `PluginProblem` at an unexpected end. */
class ByteReader {
  constructor(
    private readonly bytes: Uint8Array,
    private at = 0,
  ) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) throw new PluginProblem('the module ends too early');
    this.at += 1;
    return byte;
  }

  read(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new PluginProblem('the module ends too early');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  rest(): Uint8Array {
    return this.read(this.bytes.length - this.at);
  }

  /** Reads an unsigned number of at most 32 bits in LEB128. */
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

/** Writes an unsigned number of at most 32 bits as LEB128. */
export function uleb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return [...bytes, rest];
}
