import { stringify } from 'smol-toml';
import { isTable } from './dotted-path.js';
import type { KeyMarks } from './key-marks.js';

/** Why some tokens may change other keys over the API, but not those marked `security`. */
export const securityLabel = 'decides who may do what: a PATCH needs the scope security:write';

/** Whether a key can be changed over the API, but not with `config:write` alone. */
export function needsSecurity({ security, fileOnly }: KeyMarks): boolean {
  return security === true && fileOnly !== true;
}

/** The marks of a key in words. */
export function markLabels(marks: KeyMarks): readonly string[] {
  return [
    ...(marks.secret ? ['secret'] : []),
    ...(marks.fileOnly ? ['only in the file or the environment'] : []),
    ...(needsSecurity(marks) ? [securityLabel] : []),
    ...(marks.restart ? ['takes effect at the next start'] : []),
    ...(marks.perReplica ? ["a replica's own file or environment wins over a stored value"] : []),
  ];
}

/** A value as written on one line of TOML. */
export function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (!isTable(value)) return stringify({ value }).trim().slice('value = '.length);
  const entries = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)} = ${tomlValue(part)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
