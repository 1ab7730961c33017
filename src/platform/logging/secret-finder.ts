import { MIN_SECRET_LENGTH, REDACTED } from './secret-forms.js';

const BLOCK = 3;
const TABLE_SIZE = 2 ** 16;
const NO_BLOCK_SHIFT = MIN_SECRET_LENGTH - BLOCK + 1;

/**
 * Finds any of many texts in one pass, looking at about every fifth character (Wu and Manber's search over the first
 * eight characters of each): a line without a secret costs the same for one secret as for a thousand.
 */
export class SecretFinder {
  /** By the hash of three characters: how far the window may move when it ends with them. */
  private readonly shifts = new Uint8Array(TABLE_SIZE).fill(NO_BLOCK_SHIFT);
  /** By the first eight characters: the texts that start so, the longest first. */
  private readonly byStart = new Map<string, string[]>();

  /** The text has at least `MIN_SECRET_LENGTH` characters. */
  add(text: string): void {
    this.insert(text.slice(0, MIN_SECRET_LENGTH), text);
    for (let end = BLOCK - 1; end < MIN_SECRET_LENGTH; end++) {
      const block = blockEndingAt(text, end);
      this.shifts[block] = Math.min(this.shifts[block] as number, MIN_SECRET_LENGTH - 1 - end);
    }
  }

  /** The text with the mark in the place of everything found; what overlaps or touches becomes one mark. */
  replaceAll(text: string): string {
    let result = '';
    let hiddenTo = -1;
    let last = MIN_SECRET_LENGTH - 1;
    while (last < text.length) {
      const shift = this.shifts[blockEndingAt(text, last)] as number;
      if (shift === 0) {
        const from = last - MIN_SECRET_LENGTH + 1;
        const to = this.longestAt(text, from);
        if (to > 0 && from > hiddenTo) result += text.slice(Math.max(hiddenTo, 0), from) + REDACTED;
        hiddenTo = Math.max(hiddenTo, to);
      }
      last += shift === 0 ? 1 : shift;
    }
    return hiddenTo < 0 ? text : result + text.slice(hiddenTo);
  }

  private insert(start: string, text: string): void {
    const same = this.byStart.get(start);
    if (same === undefined) {
      this.byStart.set(start, [text]);
    } else if (!same.includes(text)) {
      const shorter = same.findIndex((other) => other.length < text.length);
      same.splice(shorter === -1 ? same.length : shorter, 0, text);
    }
  }

  /** Where the longest of the texts that start here ends, or −1. */
  private longestAt(text: string, from: number): number {
    const candidates = this.byStart.get(text.slice(from, from + MIN_SECRET_LENGTH));
    const longest = candidates?.find((candidate) => text.startsWith(candidate, from));
    return longest === undefined ? -1 : from + longest.length;
  }
}

function blockEndingAt(text: string, end: number): number {
  const mixed = (text.charCodeAt(end - 2) << 10) ^ (text.charCodeAt(end - 1) << 5) ^ text.charCodeAt(end);
  return mixed & (TABLE_SIZE - 1);
}
