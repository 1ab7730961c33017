import { fieldsText } from './fields-text.js';
import type { LogLevel } from './log-level.js';
import { visibleText } from './visible-text.js';

const COLOURS: Readonly<Record<LogLevel, number>> = { trace: 90, debug: 36, info: 32, warn: 33, error: 31 };
const DIM = 2;
/** A person watches one process, so its id is not repeated. */
const OWN_KEYS = new Set(['timestamp', 'level', 'module', 'message', 'replica_id']);

/** A JSON line for people: the time of day in UTC, level, module, sentence, fields. One line, whatever is in it. */
export function prettyLine(json: string, colours: boolean): string {
  const line = JSON.parse(json) as { timestamp: string; level: LogLevel; module: string; message: string };
  const fields = fieldsText(Object.entries(line).filter(([key]) => !OWN_KEYS.has(key)));
  const paint = (text: string, colour: number) => (colours ? `\u001b[${colour}m${text}\u001b[0m` : text);
  return [
    paint(line.timestamp.slice(11, 23), DIM),
    paint(line.level.toUpperCase().padEnd(5), COLOURS[line.level]),
    paint(visibleText(line.module), DIM),
    `${visibleText(line.message)}${fields === '' ? '' : paint(fields, DIM)}`,
  ].join(' ');
}
