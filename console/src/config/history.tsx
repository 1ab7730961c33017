import type { ReactNode } from 'react';
import type { ConfigChange } from '../api/types';
import { Badge } from '../ui/badge';
import { exactTime } from '../ui/format';
import { Card } from '../ui/page';
import { usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, More, Table } from '../ui/table';

const COLUMNS: readonly Column<ConfigChange>[] = [
  { name: 'Revision', kind: 'number', show: ({ revision }) => revision },
  { name: 'When', show: ({ changed_at }) => <time dateTime={changed_at}>{exactTime(changed_at)}</time> },
  { name: 'Who', kind: 'wide', show: ({ actor }) => actor },
  { name: 'How', show: ({ action }) => <Badge tone="quiet">{action}</Badge> },
  {
    name: 'What',
    kind: 'wide',
    show: ({ edits }) => (
      <ul className="edits">
        {edits.map(({ key, before, after }) => (
          <li key={key}>
            <span className="mono break">{key}</span>
            <code className="setting">
              {shown(before)} → {shown(after)}
            </code>
          </li>
        ))}
      </ul>
    ),
  },
];

function shown(value: unknown): string {
  return value === undefined || value === null ? 'not set' : JSON.stringify(value);
}

export function ConfigHistory(): ReactNode {
  const history = usePages<ConfigChange>('/admin/v1/config/history');
  return (
    <Card flush title="History">
      <Loaded query={history}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) {
            return (
              <Empty title="No changes at run time">What stands in the file of settings is in force.</Empty>
            );
          }
          return (
            <Table
              label="History"
              columns={COLUMNS}
              rows={items}
              keyOf={({ revision }) => String(revision)}
            />
          );
        }}
      </Loaded>
      <More
        hasMore={history.hasNextPage}
        busy={history.isFetchingNextPage}
        onMore={() => void history.fetchNextPage()}
      />
    </Card>
  );
}
