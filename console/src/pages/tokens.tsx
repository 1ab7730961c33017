import { type ReactNode, type SubmitEvent, useState } from 'react';
import type { Token } from '../api/types';
import { useSigned } from '../auth/auth';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Confirm, Dialog } from '../ui/dialog';
import { SelectField, TextField } from '../ui/fields';
import { Ago } from '../ui/format';
import { Card, Page } from '../ui/page';
import { useChange, usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, More, Table } from '../ui/table';

function statusOf({ revoked_at, expires_at }: Token): 'revoked' | 'expired' | 'active' {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) < Date.now() ? 'expired' : 'active';
}

const COLUMNS: readonly Column<Token>[] = [
  {
    name: 'Token',
    kind: 'wide',
    show: ({ name, id }) => (
      <span className="stack">
        <strong>{name}</strong>
        <span className="muted mono break">{id}</span>
      </span>
    ),
  },
  {
    name: 'Permissions',
    kind: 'wide',
    show: ({ scopes, user_id, agents }) => (
      <span className="stack">
        <span className="break">{scopes.includes('*') ? 'everything' : scopes.join(', ')}</span>
        {user_id !== null && <span className="muted">only for {user_id}</span>}
        {agents !== null && <span className="muted">only with {agents.join(', ')}</span>}
      </span>
    ),
  },
  { name: 'Status', show: (token) => <Badge>{statusOf(token)}</Badge> },
  { name: 'Last used', show: ({ last_used_at }) => <Ago at={last_used_at} /> },
  { name: 'Expires', show: ({ expires_at }) => <Ago at={expires_at} /> },
];

export default function Tokens(): ReactNode {
  const { can } = useSigned();
  const tokens = usePages<Token>('/admin/v1/tokens');
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Token | undefined>(undefined);
  const mayWrite = can('tokens:write');
  const columns: readonly Column<Token>[] = mayWrite
    ? [
        ...COLUMNS,
        {
          name: 'Actions',
          kind: 'actions',
          show: (token) =>
            statusOf(token) === 'active' && (
              <Button
                small
                kind="danger"
                aria-label={`Revoke ${token.name}`}
                onClick={() => setRevoking(token)}
              >
                Revoke
              </Button>
            ),
        },
      ]
    : COLUMNS;
  return (
    <Page
      title="Tokens"
      description="Who may call the gateway, what for, and until when."
      actions={
        mayWrite && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            New token
          </Button>
        )
      }
    >
      <Card flush>
        <Loaded query={tokens}>
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            if (items.length === 0) return <Empty title="No tokens" />;
            return <Table label="Tokens" columns={columns} rows={items} keyOf={({ id }) => id} />;
          }}
        </Loaded>
        <More
          hasMore={tokens.hasNextPage}
          busy={tokens.isFetchingNextPage}
          onMore={() => void tokens.fetchNextPage()}
        />
      </Card>
      {creating && <NewToken onClose={() => setCreating(false)} />}
      {revoking !== undefined && <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} />}
    </Page>
  );
}

function RevokeToken({ token, onClose }: { readonly token: Token; readonly onClose: () => void }): ReactNode {
  const revoke = useChange<undefined>({ method: 'DELETE', path: () => `/admin/v1/tokens/${token.id}` });
  return (
    <Confirm
      title={`Revoke ${token.name}?`}
      action="Revoke token"
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        Every replica refuses it within two seconds, and what it made ends: webhooks, waiting messages,
        running turns.
      </p>
    </Confirm>
  );
}

const PRESETS = [
  ['viewer', 'Viewer: reads'],
  ['operator', 'Operator: runs and configures'],
  ['admin', 'Administrator: everything'],
] as const;

interface Input {
  readonly name: string;
  readonly preset: string;
  readonly expires_in: string;
}

function NewToken({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [input, setInput] = useState<Input>({ name: '', preset: 'viewer', expires_in: '30d' });
  const create = useChange<Input, Token & { token: string }>({
    path: () => '/admin/v1/tokens',
    body: (given) => given,
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    create.mutate(input);
  };
  if (create.data !== undefined) {
    return (
      <Dialog title={`The token ${create.data.name}`} onClose={onClose}>
        <p role="status">Copy it now: it is not shown again.</p>
        <pre className="code">{create.data.token}</pre>
        <div className="dialog-actions">
          <Button kind="primary" onClick={onClose}>
            I have copied it
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="New token" onClose={onClose}>
      <form onSubmit={submit}>
        <TextField label="Name" value={input.name} onChange={(name) => setInput({ ...input, name })} />
        <SelectField
          label="Permissions"
          value={input.preset}
          options={PRESETS}
          onChange={(preset) => setInput({ ...input, preset })}
        />
        <TextField
          label="Expires in"
          hint="Such as 30d or 12h, or never."
          value={input.expires_in}
          onChange={(expires_in) => setInput({ ...input, expires_in })}
        />
        {create.error !== null && (
          <p className="help help-problem" role="alert">
            {create.error.message}
          </p>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={create.isPending} disabled={input.name.trim() === ''}>
            Create token
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
