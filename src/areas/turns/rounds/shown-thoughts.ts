import type { TurnListener } from '../turn.js';

/**
 * This many characters are shown together, unless something else follows: each event is a place from which a viewer may
 * resume.
 */
const PIECE_CHARS = 64;
/** Of one turn at most this many pieces are shown. */
const MAX_PIECES = 4000;

/**
 * Passes on a model's thoughts in pieces that are neither tiny nor unlimited in number, and everything else as it
 * comes.
 */
export function withThoughts(emit: TurnListener): TurnListener {
  let waiting = '';
  let pieces = 0;
  const show = (): void | Promise<void> => {
    if (waiting === '') return undefined;
    const text = waiting;
    waiting = '';
    pieces += 1;
    return pieces > MAX_PIECES ? undefined : emit({ type: 'reasoning', text });
  };
  return (event) => {
    if (event.type === 'reasoning') {
      waiting += event.text;
      return waiting.length < PIECE_CHARS ? undefined : show();
    }
    const held = show();
    return held === undefined ? emit(event) : held.then(() => emit(event));
  };
}
