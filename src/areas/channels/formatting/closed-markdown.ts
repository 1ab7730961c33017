/** Marks that come in pairs, longer ones first. */
const PAIRS = ['**', '__', '~~', '`', '*', '_'] as const;
const FENCE = /^ {0,12}(?:```|~~~)/;

/**
 * An answer that is still being written, followed by `end`, without incomplete marks: what is open in its last line is
 * closed, and of a link with an incomplete address only the words stay.
 */
export function closedMarkdown(text: string, end: string): string {
  const lines = text.split('\n');
  const isCode = lines.filter((line) => FENCE.test(line)).length % 2 === 1;
  const last = lines.pop() ?? '';
  if (isCode) return text + end;
  return [...lines, closedLine(last, end)].join('\n');
}

function closedLine(line: string, end: string): string {
  // Marks at the end are half written, or closed again below.
  const words = withoutOpenAddress(line).replace(/[*_~`]{1,8}$/, '');
  const marks = openMarks(words).toReversed().join('');
  return words.trimEnd() + marks + end;
}

/** The words of a link whose address is still being written. */
function withoutOpenAddress(line: string): string {
  const middle = line.lastIndexOf('](');
  const start = line.lastIndexOf('[', middle);
  if (middle < 0 || start < 0 || /[)\s]/.test(line.slice(middle + 2))) return line;
  const before = line.slice(0, start);
  return (before.endsWith('!') ? before.slice(0, -1) : before) + line.slice(start + 1, middle);
}

/** The marks that are open at the end of a line, in the order in which they were opened. */
function openMarks(line: string): readonly string[] {
  const open: string[] = [];
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '\\') {
      at += 1;
      continue;
    }
    const mark = PAIRS.find((pair) => line.startsWith(pair, at));
    if (mark === undefined) continue;
    const known = open.lastIndexOf(mark);
    // Within code, everything else is text.
    if (open.includes('`') && mark !== '`') continue;
    if (known >= 0) open.length = known;
    else if (mayOpen(line, at, mark)) open.push(mark);
    at += mark.length - 1;
  }
  return open;
}

/** A mark opens before a letter, at the beginning of a word; code opens anywhere. */
function mayOpen(line: string, at: number, mark: string): boolean {
  if (mark === '`') return true;
  const before = line[at - 1];
  const after = line[at + mark.length];
  const isWordBefore = before !== undefined && /[\p{L}\p{N}]/u.test(before);
  return !isWordBefore && (after === undefined || !/\s/.test(after));
}
