import type { ProfileId } from '../../src/http/profiles/profile.js';
import { tablesOf } from './specification-pages.js';

/** One row of a table of the contract, docs/specification/api.md. */
export interface SpecificationRow {
  /** What a test's title says to quote it: its section and its cells, word for word. */
  readonly quote: string;
  readonly cells: readonly string[];
  /** The profiles that it holds for. */
  readonly profiles: readonly ProfileId[];
}

export interface SpecificationTable {
  readonly section: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly SpecificationRow[];
}

/** The one profile that a heading or a row is about. */
function namedIn(text: string): readonly ProfileId[] | undefined {
  if (/\(A\)|^(.*, )?Profile A$|^Session, Profile A/.test(text)) return ['a'];
  return /\(B\)|^(.*, )?Profile B$|^Session, Profile B/.test(text) ? ['b'] : undefined;
}

/**
 * Every table of the contract in its order. The tables of webhooks, errors and rate limits hold for both profiles: the
 * contract shows them for Profile B and is silent for Profile A.
 */
export const SPECIFICATION_TABLES: readonly SpecificationTable[] = tablesOf('api.md').map(
  ({ heading, columns, rows }) => {
    const [, section = '', name = ''] = /^(\S+) (.+)$/.exec(heading) ?? [];
    return {
      section,
      name,
      columns,
      rows: rows.map((cells) => ({
        quote: [section, ...cells].join(' | '),
        cells,
        profiles: namedIn(cells.join(' | ')) ?? namedIn(name) ?? ['a', 'b'],
      })),
    };
  },
);

export const SPECIFICATION_ROWS: readonly SpecificationRow[] = SPECIFICATION_TABLES.flatMap(
  ({ rows }) => rows,
);
