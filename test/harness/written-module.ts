import { uleb } from '../../src/areas/plugins/limit-module.js';

/** What a function takes and gives: `i` is 32 bits, `I` is 64, as in `II>i`. */
type Signature = `${string}>${string}`;

interface Imported {
  readonly module: string;
  readonly name: string;
  readonly type: Signature;
}

interface Written {
  readonly type: Signature;
  /** Its instructions, without locals and without the end. */
  readonly code: readonly number[];
}

/**
 * Builds a module byte by byte, for specs that cannot wait for an assembler. Imported functions have the first
 * indices.
 */
export interface WrittenModule {
  readonly imports?: readonly Imported[];
  /** Exported under their names. */
  readonly functions: Readonly<Record<string, Written>>;
  readonly hasMemory?: boolean;
}

const BITS: Readonly<Record<string, number>> = { i: 0x7f, I: 0x7e };
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

export const call = (index: number): number[] => [0x10, ...uleb(index)];
export const drop = [0x1a];
export const unreachable = [0x00];
export const i32 = (value: number): number[] => [0x41, ...signed(value)];
export const i64 = (value: number): number[] => [0x42, ...signed(value)];

export function writtenModule({ imports = [], functions, hasMemory = true }: WrittenModule): Uint8Array {
  const own = Object.entries(functions);
  const types = [...imports, ...own.map(([, one]) => one)].map(({ type }) => typeOf(type));
  return Uint8Array.from([
    ...HEADER,
    ...section(1, types),
    ...section(
      2,
      imports.map(({ module, name }, index) => [...text(module), ...text(name), 0, ...uleb(index)]),
    ),
    ...section(
      3,
      own.map((_, index) => uleb(imports.length + index)),
    ),
    ...section(5, hasMemory ? [[0, 1]] : []),
    ...section(
      7,
      own.map(([name], index) => [...text(name), 0, ...uleb(imports.length + index)]),
    ),
    ...section(
      10,
      own.map(([, { code }]) => [...uleb(code.length + 2), 0, ...code, 0x0b]),
    ),
  ]);
}

function section(id: number, items: readonly (readonly number[])[]): number[] {
  const content = [...uleb(items.length), ...items.flat()];
  return [id, ...uleb(content.length), ...content];
}

function typeOf(signature: Signature): number[] {
  const [takes = '', gives = ''] = signature.split('>');
  const bits = (letters: string): number[] => [
    ...uleb(letters.length),
    ...[...letters].map((letter) => BITS[letter] ?? 0),
  ];
  return [0x60, ...bits(takes), ...bits(gives)];
}

function text(value: string): number[] {
  const bytes = [...Buffer.from(value)];
  return [...uleb(bytes.length), ...bytes];
}

/** A signed number as LEB128. */
function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 63 || rest < -64) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>= 7;
  }
  return [...bytes, rest & 0x7f];
}
