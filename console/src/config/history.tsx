import { type ReactNode, useState } from 'react';
import type { ConfigChange } from '../api/types';
import { useSigned } from '../auth/auth';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Confirm } from '../ui/dialog';
import { exactTime } from '../ui/format';
import { Card } from '../ui/page';
import { useChange, usePages } from '../ui/queries';
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

/** The revision to which everything is set back. */
interface Target {
  readonly to: string;
  readonly title: string;
}

/** The newest change can be undone. Going back to an older one undoes everything after it. */
function undoColumn(newest: string | undefined, onChoose: (target: Target) => void): Column<ConfigChange> {
  return {
    name: 'Actions',
    kind: 'actions',
    show: ({ revision }) => {
      const isNewest = revision === newest;
      const title = isNewest ? `Undo revision ${revision}` : `Go back to revision ${revision}`;
      const to = isNewest ? String(BigInt(revision) - 1n) : revision;
      return (
        <Button small kind="danger" aria-label={title} onClick={() => onChoose({ to, title })}>
          {isNewest ? 'Undo' : 'Go back to this revision'}
        </Button>
      );
    },
  };
}

export function ConfigHistory(): ReactNode {
  const { can } = useSigned();
  const [target, setTarget] = useState<Target | undefined>(undefined);
  const history = usePages<ConfigChange>('/admin/v1/config/history');
  const newest = history.data?.pages[0]?.items[0]?.revision;
  const columns = can('config:write') ? [...COLUMNS, undoColumn(newest, setTarget)] : COLUMNS;
  return (
    <Card flush title="History">
      <Loaded query={history}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) {
            return <Empty title="No changes at run time">The settings file is in force.</Empty>;
          }
          return <Table label="History" columns={columns} rows={items} keyOf={({ revision }) => revision} />;
        }}
      </Loaded>
      <More
        hasMore={history.hasNextPage}
        busy={history.isFetchingNextPage}
        onMore={() => void history.fetchNextPage()}
      />
      {target !== undefined && <Rollback target={target} onClose={() => setTarget(undefined)} />}
    </Card>
  );
}

function Rollback({ target, onClose }: { readonly target: Target; readonly onClose: () => void }): ReactNode {
  const rollback = useChange<string>({
    path: () => '/admin/v1/config/rollback',
    body: (revision) => ({ revision }),
  });
  return (
    <Confirm
      title={`${target.title}?`}
      action={target.title}
      busy={rollback.isPending}
      error={rollback.error}
      onConfirm={() => rollback.mutate(target.to, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        This undoes everything that was changed at run time after revision {target.to}, as a new change. Every
        replica follows within two seconds.
      </p>
    </Confirm>
  );
}
