import { type ReactNode, useState } from 'react';
import type { Session } from '../api/types';
import { useSigned } from '../auth/auth';
import { Link, setQuery, usePlace } from '../router';
import { NewSession } from '../session/new-session';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Filters, SearchField, SelectField } from '../ui/fields';
import { Ago, compact } from '../ui/format';
import { Card, Page } from '../ui/page';
import { usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, More, Table } from '../ui/table';

const STATUSES = ['live', 'active', 'idle', 'terminated'] as const;
const PAGE_SIZE = 50;

const COLUMNS: readonly Column<Session>[] = [
  {
    name: 'Session',
    kind: 'wide',
    show: ({ id, agent }) => (
      <span className="stack">
        <Link to={`/sessions/${id}`} className="mono">
          {id}
        </Link>
        <span className="muted">{agent}</span>
      </span>
    ),
  },
  { name: 'User', show: ({ user_id }) => <span className="clip">{user_id}</span> },
  { name: 'Channel', show: ({ channel }) => channel },
  { name: 'Status', show: ({ status, running }) => <Badge>{running ? 'running' : status}</Badge> },
  { name: 'Turns', kind: 'number', show: ({ turn_count }) => compact(turn_count) },
  { name: 'Tokens', kind: 'number', show: (one) => compact(one.input_tokens + one.output_tokens) },
  { name: 'Last activity', show: ({ last_activity }) => <Ago at={last_activity} /> },
];

export default function Sessions(): ReactNode {
  const { can } = useSigned();
  const { query } = usePlace();
  const [creating, setCreating] = useState(false);
  const text = (name: string): string => query.get(name) ?? '';
  const filters = {
    query: text('query'),
    status: text('status'),
    channel: text('channel'),
    agent: text('agent'),
  };
  const sessions = usePages<Session>('/admin/v1/sessions', { query: { ...filters, limit: PAGE_SIZE } });
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return (
    <Page
      title="Sessions"
      description="Conversations with agents, newest first."
      actions={
        can('sessions:write') && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            New session
          </Button>
        )
      }
    >
      <Filters label="Filter the sessions">
        <SearchField
          label="Find"
          hint="Start of an id, or part of a user"
          value={filters.query}
          onChange={(value) => setQuery({ query: value })}
        />
        <SelectField
          label="Status"
          value={filters.status}
          options={[['', 'Any'], ...STATUSES.map((status) => [status, status] as const)]}
          onChange={(value) => setQuery({ status: value })}
        />
        <SearchField
          label="Channel"
          value={filters.channel}
          onChange={(value) => setQuery({ channel: value })}
        />
        <SearchField label="Agent" value={filters.agent} onChange={(value) => setQuery({ agent: value })} />
      </Filters>
      <Card flush>
        <Loaded query={sessions}>
          {({ pages }) => {
            const rows = pages.flatMap(({ items }) => items);
            if (rows.length === 0) return <NoSessions isFiltered={isFiltered} />;
            return <Table label="Sessions" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />;
          }}
        </Loaded>
        <More
          hasMore={sessions.hasNextPage}
          busy={sessions.isFetchingNextPage}
          onMore={() => void sessions.fetchNextPage()}
        />
      </Card>
      {creating && <NewSession onClose={() => setCreating(false)} />}
    </Page>
  );
}

function NoSessions({ isFiltered }: { readonly isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty title="No matching sessions">Change or clear the filters.</Empty>;
  return (
    <Empty title="No sessions yet">They appear when someone talks to an agent. Start one yourself.</Empty>
  );
}
