import { type ReactNode, useState } from 'react';
import type { Delivery, Hook } from '../api/types';
import { useSigned } from '../auth/auth';
import { NewHook } from '../hooks/new-hook';
import { setQuery, usePlace } from '../router';
import { ActionButton } from '../ui/action-button';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Confirm } from '../ui/dialog';
import { SelectField } from '../ui/fields';
import { Ago } from '../ui/format';
import { Card, Page } from '../ui/page';
import { useChange, usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, More, Table } from '../ui/table';

export default function Hooks(): ReactNode {
  const { can } = useSigned();
  const [creating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<Hook | undefined>(undefined);
  const hooks = usePages<Hook>('/admin/v1/hooks');
  const mayWrite = can('hooks:write');
  return (
    <Page
      title="Webhooks"
      description="Where events are delivered, and whether they arrive."
      actions={
        mayWrite && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            New webhook
          </Button>
        )
      }
    >
      <Card flush>
        <Loaded query={hooks}>
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            if (items.length === 0) {
              return (
                <Empty title="No webhooks">
                  Register a URL to receive events about sessions, messages and failures.
                </Empty>
              );
            }
            const columns = mayWrite ? [...HOOK_COLUMNS, deleteColumn(setDeleting)] : HOOK_COLUMNS;
            return <Table label="Webhooks" columns={columns} rows={items} keyOf={({ id }) => id} />;
          }}
        </Loaded>
        <More
          hasMore={hooks.hasNextPage}
          busy={hooks.isFetchingNextPage}
          onMore={() => void hooks.fetchNextPage()}
        />
      </Card>
      <Deliveries hooks={hooks.data?.pages.flatMap(({ items }) => items) ?? []} />
      {creating && <NewHook onClose={() => setCreating(false)} />}
      {deleting !== undefined && <DeleteHook hook={deleting} onClose={() => setDeleting(undefined)} />}
    </Page>
  );
}

const HOOK_COLUMNS: readonly Column<Hook>[] = [
  {
    name: 'URL',
    kind: 'wide',
    show: ({ url, id }) => (
      <span className="stack">
        <span className="break">{url}</span>
        <span className="muted mono break">{id}</span>
      </span>
    ),
  },
  { name: 'Events', kind: 'wide', show: ({ events }) => events.join(', ') },
  {
    name: 'Status',
    show: ({ active, inactive_reason, failing_since }) => (
      <span className="stack">
        <span>
          <Badge>{!active ? 'inactive' : failing_since === null ? 'active' : 'failing'}</Badge>
        </span>
        {inactive_reason !== null && <span className="muted">{inactive_reason}</span>}
        {failing_since !== null && (
          <span className="muted">
            since <Ago at={failing_since} />
          </span>
        )}
      </span>
    ),
  },
  { name: 'Waiting', kind: 'number', show: ({ waiting }) => waiting },
];

function deleteColumn(onDelete: (hook: Hook) => void): Column<Hook> {
  return {
    name: 'Actions',
    kind: 'actions',
    show: (hook) => (
      <Button small kind="danger" aria-label={`Delete ${hook.url}`} onClick={() => onDelete(hook)}>
        Delete
      </Button>
    ),
  };
}

function DeleteHook({ hook, onClose }: { readonly hook: Hook; readonly onClose: () => void }): ReactNode {
  const remove = useChange<undefined>({ method: 'DELETE', path: () => `/api/v1/hooks/${hook.id}` });
  return (
    <Confirm
      title="Delete this webhook?"
      action="Delete webhook"
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p className="break">{hook.url}</p>
      <p>Deliveries that wait are cancelled.</p>
    </Confirm>
  );
}

const STATUSES = ['pending', 'delivered', 'failed'] as const;

function Deliveries({ hooks }: { readonly hooks: readonly Hook[] }): ReactNode {
  const { can } = useSigned();
  const { query } = usePlace();
  const [hook, status] = [query.get('hook') ?? '', query.get('status') ?? ''];
  const deliveries = usePages<Delivery>('/admin/v1/deliveries', { query: { hook, status } });
  const urls = new Map(hooks.map(({ id, url }) => [id, url]));
  const columns = [...deliveryColumns(urls), ...(can('hooks:write') ? [REDELIVER] : [])];
  return (
    <Card
      flush
      title="Deliveries"
      actions={
        <div className="head-fields">
          <SelectField
            label="Webhook"
            value={hook}
            options={[['', 'All'], ...hooks.map(({ id, url }) => [id, url] as const)]}
            onChange={(value) => setQuery({ hook: value })}
          />
          <SelectField
            label="Status"
            value={status}
            options={[['', 'Any'], ...STATUSES.map((one) => [one, one] as const)]}
            onChange={(value) => setQuery({ status: value })}
          />
        </div>
      }
    >
      <Loaded query={deliveries}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0)
            return <Empty title="No deliveries">They appear with the first event.</Empty>;
          return <Table label="Deliveries" columns={columns} rows={items} keyOf={({ id }) => id} />;
        }}
      </Loaded>
      <More
        hasMore={deliveries.hasNextPage}
        busy={deliveries.isFetchingNextPage}
        onMore={() => void deliveries.fetchNextPage()}
      />
    </Card>
  );
}

function deliveryColumns(urls: ReadonlyMap<string, string>): readonly Column<Delivery>[] {
  return [
    {
      name: 'Event',
      kind: 'wide',
      show: ({ event, hook_id }) => (
        <span className="stack">
          <span className="mono">{event}</span>
          <span className="muted break">{urls.get(hook_id) ?? hook_id}</span>
        </span>
      ),
    },
    {
      name: 'Status',
      kind: 'wide',
      show: ({ status, last_error, last_status }) => (
        <span className="stack">
          <span>
            <Badge>{status}</Badge> {last_status !== null && <span className="muted">{last_status}</span>}
          </span>
          {last_error !== null && last_error !== `http_${last_status}` && (
            <span className="muted break">{last_error}</span>
          )}
        </span>
      ),
    },
    { name: 'Attempts', kind: 'number', show: ({ attempts }) => attempts },
    { name: 'Created', show: ({ created_at }) => <Ago at={created_at} /> },
    {
      name: 'Next attempt',
      show: ({ next_attempt_at }) => (next_attempt_at === null ? '–' : <Ago at={next_attempt_at} />),
    },
  ];
}

const REDELIVER: Column<Delivery> = {
  name: 'Actions',
  kind: 'actions',
  show: ({ id, event, status }) =>
    status !== 'pending' && (
      <ActionButton path={`/admin/v1/deliveries/${id}/redeliver`} label={`Deliver again: ${event}`}>
        Deliver again
      </ActionButton>
    ),
};
