const DIGITS = new Map(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].map((c, i) => [c, i]),
);

/** Where each place of a source is in what was compiled from it. The map must have one source. */
export class CompiledScript {
  /** `[place in the source, place in the compiled text]`, by the former. */
  #places;

  constructor(code, map, sourceText) {
    const codeLines = lineStarts(code);
    const sourceLines = lineStarts(sourceText);
    this.#places = segments(map.mappings)
      .map(([line, column, sourceLine, sourceColumn]) => [
        (sourceLines[sourceLine] ?? 0) + sourceColumn,
        (codeLines[line] ?? 0) + column,
      ])
      .sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  }

  /** Where the first mapped piece of this span is; undefined when none of it was compiled to anything. */
  placeOf({ from, to }) {
    let low = 0;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#places[middle][0] < from) low = middle + 1;
      else high = middle;
    }
    const found = this.#places[low];
    return found !== undefined && found[0] < to ? found[1] : undefined;
  }
}

/** How often each place of a script ran, from what V8 counted: the innermost range decides. */
export class RunCounts {
  #ranges;

  constructor(functions) {
    this.#ranges = functions
      .flatMap(({ ranges }) => ranges)
      .sort((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset);
  }

  at(place) {
    let count = 0;
    for (const range of this.#ranges) {
      if (range.startOffset > place) break;
      if (range.endOffset > place) count = range.count;
    }
    return count;
  }
}

function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The mappings of a source map: `[line, column, line of the source, column there]`, all from 0. */
function segments(mappings) {
  const found = [];
  let [sourceLine, sourceColumn] = [0, 0];
  for (const [line, text] of mappings.split(';').entries()) {
    let column = 0;
    for (const segment of text.split(',')) {
      const [moved, , lineMoved, columnMoved] = numbers(segment);
      if (moved === undefined) continue;
      column += moved;
      if (lineMoved === undefined) continue;
      sourceLine += lineMoved;
      sourceColumn += columnMoved;
      found.push([line, column, sourceLine, sourceColumn]);
    }
  }
  return found;
}

/** Base64 VLQ: six bits a character, the highest says that more follow, the lowest of the number is its sign. */
function numbers(segment) {
  const found = [];
  let [value, shift] = [0, 0];
  for (const character of segment) {
    const digit = DIGITS.get(character) ?? 0;
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    found.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return found;
}
