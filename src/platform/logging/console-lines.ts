import { prettyLine } from './pretty-line.js';

export type LogFormat = 'auto' | 'json' | 'pretty';

/** Takes lines that end with a line feed, each with the rank of its level. */
export type LineOutput = (line: string, rank: number) => void;

/**
 * How log lines go to a console (`logging.format`): JSON as they come, or pretty; `auto` is pretty on a terminal, and
 * only there are colours. Takes and writes lines that end with a line feed.
 */
export function consoleLines(format: LogFormat, isTerminal: boolean, write: LineOutput): LineOutput {
  if (format === 'json' || (format === 'auto' && !isTerminal)) return write;
  return (line, rank) => write(`${prettyLine(line, isTerminal)}\n`, rank);
}
