import type { ReactNode } from 'react';
import type { Plugin } from '../api/types';
import { useSigned } from '../auth/auth';
import { ActionButton } from '../ui/action-button';
import { Badge } from '../ui/badge';
import { bytes } from '../ui/format';
import { Card, Page } from '../ui/page';
import { useGet } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, Table } from '../ui/table';

const MEBIBYTE = 1_048_576;

function statusOf({ status, enabled, error }: Plugin): string {
  return status ?? (error !== undefined ? 'failed' : enabled === true ? 'loaded' : 'disabled');
}

const COLUMNS: readonly Column<Plugin>[] = [
  {
    name: 'Plugin',
    kind: 'wide',
    show: ({ name, version }) => (
      <span className="stack">
        <strong>{name}</strong>
        <span className="muted">{version}</span>
      </span>
    ),
  },
  {
    name: 'Status',
    kind: 'wide',
    show: (plugin) => (
      <span className="stack">
        <span>
          <Badge>{statusOf(plugin)}</Badge>
        </span>
        {plugin.error !== undefined && <span className="break">{plugin.error}</span>}
      </span>
    ),
  },
  { name: 'Offers', kind: 'wide', show: ({ capabilities, type }) => capabilities?.join(', ') ?? type ?? '' },
  {
    name: 'Memory',
    kind: 'number',
    show: ({ memory_usage_bytes, memory_usage_mb }) =>
      bytes(memory_usage_bytes ?? (memory_usage_mb ?? 0) * MEBIBYTE),
  },
];

/** How a plugin is started again: Profile A enables it, Profile B reloads it. */
function actionsColumn(profile: 'a' | 'b'): Column<Plugin> {
  return {
    name: 'Actions',
    kind: 'actions',
    show: (plugin) => {
      const { name } = plugin;
      const path = `/api/v1/plugins/${encodeURIComponent(name)}`;
      const isOff = statusOf(plugin) === 'disabled';
      return (
        <span className="row-actions">
          {profile === 'b' && (
            <ActionButton path={`${path}/reload`} label={`${isOff ? 'Enable' : 'Reload'} ${name}`}>
              {isOff ? 'Enable' : 'Reload'}
            </ActionButton>
          )}
          {profile === 'a' && isOff && (
            <ActionButton path={`${path}/enable`} label={`Enable ${name}`}>
              Enable
            </ActionButton>
          )}
          {!isOff && (
            <ActionButton path={`${path}/disable`} label={`Disable ${name}`} kind="danger">
              Disable
            </ActionButton>
          )}
        </span>
      );
    },
  };
}

export default function Plugins(): ReactNode {
  const { can, me } = useSigned();
  const plugins = useGet<{ plugins: readonly Plugin[] }>('/api/v1/plugins');
  const columns = can('plugins:write') ? [...COLUMNS, actionsColumn(me.profile)] : COLUMNS;
  return (
    <Page title="Plugins" description="WebAssembly modules that extend the gateway.">
      <Card flush>
        <Loaded query={plugins}>
          {({ plugins: items }) =>
            items.length === 0 ? (
              <Empty title="No plugins">Put them into the folder that plugins.dir names.</Empty>
            ) : (
              <Table label="Plugins" columns={columns} rows={items} keyOf={({ name }) => name} />
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}
