import type { ReactNode } from 'react';
import type { AuditRow } from '../api/types';
import { setQuery, usePlace } from '../router';
import { Badge } from '../ui/badge';
import { Filters, SearchField, SelectField } from '../ui/fields';
import { exactTime, Json } from '../ui/format';
import { Card, Page } from '../ui/page';
import { usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, More, Table } from '../ui/table';

const SPANS = [
  ['', 'From the oldest'],
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;

const COLUMNS: readonly Column<AuditRow>[] = [
  { name: 'When', show: ({ at }) => <time dateTime={at}>{exactTime(at)}</time> },
  {
    name: 'Who',
    kind: 'wide',
    show: ({ actor, address }) => (
      <span className="stack">
        <span>{actor}</span>
        {address !== null && <span className="muted">{address}</span>}
      </span>
    ),
  },
  { name: 'What', show: ({ action }) => <span className="mono">{action}</span> },
  {
    name: 'Of what',
    kind: 'wide',
    show: ({ subject, details }) => (
      <span className="stack">
        <span>{subject}</span>
        {Object.keys(details).length > 0 && (
          <details>
            <summary>Details</summary>
            <Json value={details} label="Details" />
          </details>
        )}
      </span>
    ),
  },
  { name: 'Result', show: ({ result }) => <Badge>{result}</Badge> },
];

export default function Audit(): ReactNode {
  const { query } = usePlace();
  const text = (name: string): string => query.get(name) ?? '';
  const filters = {
    actor: text('actor'),
    action: text('action'),
    subject: text('subject'),
    since: text('since'),
  };
  // Reading the audit is audited too, so the page does not refresh by itself.
  const rows = usePages<AuditRow>('/admin/v1/audit', { query: { ...filters, limit: 100 }, refreshMs: false });
  return (
    <Page title="Audit" description="Who did what, from where, and how it ended. Reading it is audited too.">
      <Filters label="Filter the audit">
        <SearchField label="Who" value={filters.actor} onChange={(value) => setQuery({ actor: value })} />
        <SearchField
          label="What"
          hint="token.created"
          value={filters.action}
          onChange={(value) => setQuery({ action: value })}
        />
        <SearchField
          label="Of what"
          value={filters.subject}
          onChange={(value) => setQuery({ subject: value })}
        />
        <SelectField
          label="Since"
          value={filters.since}
          options={SPANS}
          onChange={(value) => setQuery({ since: value })}
        />
      </Filters>
      <Card flush>
        <Loaded query={rows}>
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            if (items.length === 0) return <Empty title="No matching entries" />;
            return <Table label="Audit" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />;
          }}
        </Loaded>
        <More
          hasMore={rows.hasNextPage}
          busy={rows.isFetchingNextPage}
          onMore={() => void rows.fetchNextPage()}
        />
      </Card>
    </Page>
  );
}
