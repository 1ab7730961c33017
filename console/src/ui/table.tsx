import type { ReactNode } from 'react';
import { Button } from './button';

export interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => ReactNode;
  readonly kind?: 'number' | 'actions' | 'wide';
}

interface Props<Row> {
  /** Tells screen readers what the table lists. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/** A table. On a narrow screen each row becomes a card whose cells name their columns. */
export function Table<Row>({ label, columns, rows, keyOf }: Props<Row>): ReactNode {
  return (
    <div className="table-frame">
      {/* Explicit roles, because the narrow-screen styles take the table's own away. */}
      {/* biome-ignore-start lint/a11y/noRedundantRoles: see above */}
      <table role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, kind }) => (
              <th
                key={name}
                role="columnheader"
                scope="col"
                className={kind === undefined ? '' : `cell-${kind}`}
              >
                {kind === 'actions' ? <span className="hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map(({ name, show, kind }) => (
                <td
                  key={name}
                  role="cell"
                  data-label={name}
                  className={kind === undefined ? '' : `cell-${kind}`}
                >
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {/* biome-ignore-end lint/a11y/noRedundantRoles: see above */}
    </div>
  );
}

interface MoreProps {
  readonly hasMore: boolean;
  readonly busy: boolean;
  readonly onMore: () => void;
}

export function More({ hasMore, busy, onMore }: MoreProps): ReactNode {
  if (!hasMore) return null;
  return (
    <div className="more">
      <Button busy={busy} onClick={onMore}>
        {busy ? 'Loading…' : 'Show more'}
      </Button>
    </div>
  );
}
