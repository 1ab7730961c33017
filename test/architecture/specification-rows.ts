import type { ProfileId } from '../../src/http/profiles/profile.js';
import { tablesOf } from './specification-pages.js';

/** A row of a table of the contract (docs/specification/api.md). */
export interface SpecificationRow {
  /** The title of a test that quotes it: its section and its cells, word for word. */
  readonly quote: string;
  readonly cells: readonly string[];
  /** The profiles it applies to. */
  readonly profiles: readonly ProfileId[];
}

export interface SpecificationTable {
  readonly section: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly SpecificationRow[];
}

/** The profile that a heading or a row names, if it names only one. */
function namedIn(text: string): readonly ProfileId[] | undefined {
  if (/\(A\)|^(.*, )?Profile A$|^Session, Profile A/.test(text)) return ['a'];
  return /\(B\)|^(.*, )?Profile B$|^Session, Profile B/.test(text) ? ['b'] : undefined;
}

/**
 * Every table of the contract, in order. The tables of webhooks, errors and rate limits apply to both profiles: the
 * contract shows them for Profile B and does not mention Profile A.
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
