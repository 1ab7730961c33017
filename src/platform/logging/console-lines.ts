import { prettyLine } from './pretty-line.js';

/**
 * How log lines go to a console (`logging.format`): JSON as they come, or pretty; `auto` is pretty on a terminal, and
 * only there are colours. Takes and writes lines that end with a line feed.
 */
export function consoleLines(
  format: 'auto' | 'json' | 'pretty',
  isTerminal: boolean,
  write: (text: string) => void,
): (line: string) => void {
  if (format === 'json' || (format === 'auto' && !isTerminal)) return write;
  return (line) => write(`${prettyLine(line, isTerminal)}\n`);
}
