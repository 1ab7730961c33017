import { stringify } from 'smol-toml';
import { isTable } from './dotted-path.js';
import type { KeyMarks } from './key-marks.js';

/** The marks of a key in words, for people who read about it. */
export function marksInWords(marks: KeyMarks): readonly string[] {
  return [
    ...(marks.secret ? ['secret'] : []),
    ...(marks.fileOnly ? ['only in the file or the environment'] : []),
    ...(marks.restart ? ['takes effect at the next start'] : []),
  ];
}

/** A value as it is written on one line of TOML. */
export function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (!isTable(value)) return stringify({ value }).trim().slice('value = '.length);
  const entries = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)} = ${tomlValue(part)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
