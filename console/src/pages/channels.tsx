import type { ReactNode } from 'react';
import type { Channel } from '../api/types';
import { useSigned } from '../auth/auth';
import { Link } from '../router';
import { ActionButton } from '../ui/action-button';
import { Badge } from '../ui/badge';
import { Ago, compact } from '../ui/format';
import { Card, Page } from '../ui/page';
import { usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, More, Table } from '../ui/table';

const COLUMNS: readonly Column<Channel>[] = [
  {
    name: 'Channel',
    kind: 'wide',
    show: ({ name, type }) => (
      <span className="stack">
        <strong>{name}</strong>
        <span className="muted">{type}</span>
      </span>
    ),
  },
  {
    name: 'Status',
    kind: 'wide',
    show: ({ status, enabled, error }) => (
      <span className="stack">
        <span>{enabled ? <Badge>{status}</Badge> : <Badge>disabled</Badge>}</span>
        {error !== null && <span className="break">{error}</span>}
      </span>
    ),
  },
  { name: 'Connected', show: ({ connected_at }) => <Ago at={connected_at} /> },
  {
    name: 'Active sessions',
    kind: 'number',
    show: ({ name, active_sessions }) => (
      <Link to={`/sessions?channel=${encodeURIComponent(name)}`}>{compact(active_sessions)}</Link>
    ),
  },
];

const RESTART: Column<Channel> = {
  name: 'Actions',
  kind: 'actions',
  // The built-in channel has no connection to restart.
  show: ({ name, enabled, type }) =>
    enabled &&
    type !== 'api' && (
      <ActionButton path={`/admin/v1/channels/${encodeURIComponent(name)}/restart`} label={`Restart ${name}`}>
        Restart
      </ActionButton>
    ),
};

export default function Channels(): ReactNode {
  const { can } = useSigned();
  const channels = usePages<Channel>('/admin/v1/channels', { refreshMs: 5000 });
  const columns = can('channels:write') ? [...COLUMNS, RESTART] : COLUMNS;
  return (
    <Page title="Channels" description="Where people write, and whether the gateway is connected there.">
      <Card flush>
        <Loaded query={channels}>
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            if (items.length === 0) return <Empty title="No channels">Add them under channels_config.</Empty>;
            return <Table label="Channels" columns={columns} rows={items} keyOf={({ name }) => name} />;
          }}
        </Loaded>
        <More
          hasMore={channels.hasNextPage}
          busy={channels.isFetchingNextPage}
          onMore={() => void channels.fetchNextPage()}
        />
      </Card>
    </Page>
  );
}
