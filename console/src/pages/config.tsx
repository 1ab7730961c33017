import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { useSigned } from '../auth/auth';
import { ConfigHistory } from '../config/history';
import { type Leaf, leavesOf } from '../config/leaves';
import { SettingDialog } from '../config/setting-dialog';
import { setQuery, usePlace } from '../router';
import { Button } from '../ui/button';
import { Filters, SearchField } from '../ui/fields';
import { Card, Page } from '../ui/page';
import { LIST_REFRESH_MS } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, Table } from '../ui/table';

const CONFIG_PATH = '/api/v1/config';

export default function Config(): ReactNode {
  const { api, can, me } = useSigned();
  const { query } = usePlace();
  const find = query.get('find') ?? '';
  const [editing, setEditing] = useState<Leaf | undefined>(undefined);
  const config = useQuery({
    queryKey: [CONFIG_PATH],
    queryFn: ({ signal }) => api.read<unknown>(CONFIG_PATH, {}, signal),
    refetchInterval: LIST_REFRESH_MS * 3,
  });
  // Only Profile B has this operation.
  const mayWrite = can('config:write') && me.profile === 'b';
  const columns = mayWrite ? [...COLUMNS, editColumn(setEditing)] : COLUMNS;
  return (
    <Page
      title="Configuration"
      description={
        mayWrite || !can('config:write')
          ? 'The settings in force. Secrets are never shown.'
          : 'The settings in force. They are changed through the port of Profile B.'
      }
    >
      <Filters label="Filter the settings">
        <SearchField
          label="Find"
          hint="agent.model"
          value={find}
          onChange={(value) => setQuery({ find: value })}
        />
      </Filters>
      <Card flush>
        <Loaded query={config}>{({ body }) => <Settings tree={body} find={find} columns={columns} />}</Loaded>
      </Card>
      <ConfigHistory />
      {editing !== undefined && (
        <SettingDialog leaf={editing} etag={config.data?.etag} onClose={() => setEditing(undefined)} />
      )}
    </Page>
  );
}

interface SettingsProps {
  readonly tree: unknown;
  readonly find: string;
  readonly columns: readonly Column<Leaf>[];
}

function Settings({ tree, find, columns }: SettingsProps): ReactNode {
  const leaves = useMemo(() => leavesOf(tree), [tree]);
  const text = find.toLowerCase();
  const shown = leaves.filter(({ key }) => key.toLowerCase().includes(text));
  if (shown.length === 0) return <Empty title="No setting has this in its name" />;
  return <Table label="Settings" columns={columns} rows={shown} keyOf={({ key }) => key} />;
}

const COLUMNS: readonly Column<Leaf>[] = [
  { name: 'Setting', kind: 'wide', show: ({ key }) => <span className="mono">{key}</span> },
  {
    name: 'Value',
    kind: 'wide',
    show: ({ value }) => <code className="setting">{JSON.stringify(value)}</code>,
  },
];

function editColumn(onEdit: (leaf: Leaf) => void): Column<Leaf> {
  return {
    name: 'Actions',
    kind: 'actions',
    show: (leaf) => (
      <Button small aria-label={`Change ${leaf.key}`} onClick={() => onEdit(leaf)}>
        Change
      </Button>
    ),
  };
}
