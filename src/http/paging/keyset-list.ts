import { createHash } from 'node:crypto';
import { BadFields } from '../../common/errors/gateway-error.js';
import type { PageQuery } from './page-query.js';

/** What an item is sorted by: a time, a text such as an id, or a whole number of any size as text. */
type KeyKind = 'time' | 'text' | 'number';

/**
 * The sort keys of the last item of a page, as texts for the parameters of a statement. Before the first page they are
 * greater than every item's, so that the same comparison serves it: `(created_at, id) < ($1::timestamptz, $2)`.
 */
export type KeyPosition<Kinds extends readonly KeyKind[] = readonly KeyKind[]> = {
  readonly [At in keyof Kinds]: string;
};

/** A page of the operators' API as a service answers it. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** Greater than every value of the kind; after a time or a number, the further keys are never compared. */
const GREATEST = { time: 'infinity', number: '9223372036854775807', text: '\u{10ffff}' } as const;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const NUMBER = /^-?\d{1,19}$/;
const MOST = 2n ** 63n - 1n;
const MAX_TEXT = 512;

/**
 * One list of the operators' API: newest first, in pages that continue after the last item seen, so that none is shown
 * twice or left out when others are added meanwhile. Its cursors are opaque, and are refused in another list and with
 * other filters. Stores ask for one item more than the page has.
 */
export class KeysetList<Item, const Kinds extends readonly KeyKind[] = readonly KeyKind[]> {
  /**
   * @param name unique among the lists
   * @param kinds of the sort keys, in their order
   * @param keysOf the sort keys of an item
   */
  constructor(
    private readonly name: string,
    private readonly kinds: Kinds,
    private readonly keysOf: (item: Item) => readonly (Date | string | number)[],
  ) {}

  /** Where the page begins. Throws `BadFields` (400) for a cursor that this list did not make with these filters. */
  after({ cursor }: PageQuery, filters: readonly unknown[] = []): KeyPosition<Kinds> {
    if (cursor === undefined) return this.kinds.map((kind) => GREATEST[kind]) as KeyPosition<Kinds>;
    const [sum, ...keys] = parsed(cursor);
    const fits = keys.length === this.kinds.length && keys.every((key, i) => isKey(key, this.kinds[i]));
    if (!fits || sum !== this.checksum(keys, filters)) {
      const message = 'is not the next_cursor of a page of this list with these filters; begin without it';
      throw new BadFields([{ path: 'cursor', message }]);
    }
    return keys as KeyPosition<Kinds>;
  }

  /**
   * @param found up to one item more than `limit`, which says that there is another page
   * @param end where the search was given up: the next page goes on behind it, even if this one is not full
   */
  page(
    found: readonly Item[],
    { limit }: PageQuery,
    filters: readonly unknown[] = [],
    end?: KeyPosition,
  ): Page<Item> {
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const after = found.length > limit && last !== undefined ? this.positionOf(last) : end;
    return { items, nextCursor: after === undefined ? null : this.cursorAt(after, filters) };
  }

  private positionOf(item: Item): KeyPosition {
    return this.keysOf(item).map((key) => (key instanceof Date ? key.toISOString() : String(key)));
  }

  private cursorAt(keys: KeyPosition, filters: readonly unknown[]): string {
    return Buffer.from(JSON.stringify([this.checksum(keys, filters), ...keys])).toString('base64url');
  }

  private checksum(keys: readonly string[], filters: readonly unknown[]): string {
    const text = JSON.stringify([this.name, filters.map((value) => value ?? null), keys]);
    return createHash('sha256').update(text).digest('base64url').slice(0, 12);
  }
}

/** The texts in a cursor; none for anything that is no cursor. */
function parsed(cursor: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parts) && parts.every((part) => typeof part === 'string') ? parts : [];
  } catch {
    return [];
  }
}

function isKey(key: string, kind: KeyKind | undefined): boolean {
  if (kind === 'time') return isTime(key);
  return kind === 'number'
    ? NUMBER.test(key) && BigInt(key) <= MOST
    : key.length <= MAX_TEXT && !key.includes('\0');
}

/** A valid moment, in a year that PostgreSQL supports too. */
function isTime(key: string): boolean {
  const at = Date.parse(key);
  return TIME.test(key) && !key.startsWith('0000') && !Number.isNaN(at) && new Date(at).toISOString() === key;
}
