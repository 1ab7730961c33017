import type { Paint } from './text-table.js';

const RESET = '\u001b[0m';
const COLORS = { bold: '\u001b[1m', green: '\u001b[32m', yellow: '\u001b[33m', red: '\u001b[31m' } as const;
type Color = keyof typeof COLORS;

/** The words for states, and for levels of the log, by what they mean for the person on call. */
const WORDS: readonly (readonly [color: Color, words: readonly string[]])[] = [
  ['green', ['ok', 'active', 'connected', 'loaded', 'delivered', 'success', 'running', 'healthy', 'allowed']],
  [
    'yellow',
    ['warning', 'warn', 'degraded', 'reconnecting', 'pending', 'disabled', 'waiting', 'idle', 'denied'],
  ],
  ['red', ['failing', 'failed', 'error', 'disconnected', 'unhealthy', 'crashed', 'refused', 'inactive']],
];
const COLOR_OF = new Map(WORDS.flatMap(([color, words]) => words.map((word) => [word, color] as const)));

function painted(color: Color, text: string): string {
  return `${COLORS[color]}${text}${RESET}`;
}

/** Colours heads and words that are states. Undefined where nothing is to be coloured. */
export function paintOf(isColored: boolean): Paint | undefined {
  if (!isColored) return undefined;
  return (cell, isHead) => {
    const color = isHead ? 'bold' : COLOR_OF.get(cell);
    return color === undefined ? cell : painted(color, cell);
  };
}

/** One word that is a state, or as it is. */
export function paintWord(word: string, isColored: boolean, shown = word): string {
  const color = isColored ? COLOR_OF.get(word) : undefined;
  return color === undefined ? shown : painted(color, shown);
}
