import type { ReactNode } from 'react';
import type { ServerTool, ToolServer } from '../api/types';
import { useSigned } from '../auth/auth';
import { ActionButton } from '../ui/action-button';
import { Badge } from '../ui/badge';
import { Button } from '../ui/button';
import { Ago, Json } from '../ui/format';
import { Card, Page } from '../ui/page';
import { useChange, usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { More } from '../ui/table';

export default function Servers(): ReactNode {
  const servers = usePages<ToolServer>('/admin/v1/mcp/servers', { refreshMs: 5000 });
  return (
    <Page
      title="Tool servers"
      description="Where the tools of the agents come from (Model Context Protocol)."
    >
      <Quarantine />
      <Loaded query={servers}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) {
            return (
              <Card>
                <Empty title="No tool servers">Add them to the settings file, under mcp.servers.</Empty>
              </Card>
            );
          }
          return (
            <ul className="cards">
              {items.map((server) => (
                <ServerCard key={server.name} server={server} />
              ))}
            </ul>
          );
        }}
      </Loaded>
      <More
        hasMore={servers.hasNextPage}
        busy={servers.isFetchingNextPage}
        onMore={() => void servers.fetchNextPage()}
      />
    </Page>
  );
}

function ServerCard({ server }: { readonly server: ToolServer }): ReactNode {
  const { can } = useSigned();
  const { name, transport, status, connected_at, error, warning, tools, connections } = server;
  return (
    <li className="card">
      <div className="card-head">
        <h2 className="break">{name}</h2>
        <span className="row-actions">
          <Badge>{status}</Badge>
          {can('mcp:write') && (
            <ActionButton
              path={`/admin/v1/mcp/servers/${encodeURIComponent(name)}/reconnect`}
              label={`Reconnect ${name}`}
            >
              Reconnect
            </ActionButton>
          )}
        </span>
      </div>
      <p className="muted">
        {transport},{' '}
        {connected_at === null ? (
          'not connected'
        ) : (
          <>
            connected <Ago at={connected_at} />
          </>
        )}
        ; user connections: {connections.busy} in use, {connections.idle} idle
      </p>
      {error !== null && <p className="notice notice-danger">{error}</p>}
      {server.sign_in !== 'none' && <SignIn server={server} />}
      {warning !== null && <p className="notice notice-info">{warning}</p>}
      {tools.length === 0 ? (
        <p className="muted">No tools</p>
      ) : (
        <details>
          <summary>
            {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
          </summary>
          <ul className="chips">
            {tools.map((tool) => (
              <li key={tool} className="mono break">
                {tool}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

interface SignInLink {
  readonly url: string;
  readonly issuer: string;
  readonly scope: string | null;
}

/**
 * Sign-in to a server whose tools have the rights of the person who signed in: a link that opens beside the console.
 */
function SignIn({ server }: { readonly server: ToolServer }): ReactNode {
  const { can } = useSigned();
  const { name, sign_in: state, signed_in_by: by, signed_in_at: at } = server;
  const path = () => `/admin/v1/mcp/servers/${encodeURIComponent(name)}/sign-in`;
  const begin = useChange<undefined, SignInLink>({ path });
  const end = useChange<undefined>({ method: 'DELETE', path });
  const failed = begin.error ?? end.error;
  return (
    <div>
      <p className="muted">
        {state === 'needed' ? (
          'No one is signed in'
        ) : (
          <>
            Signed in, with a link that {by} made, <Ago at={at} />
          </>
        )}
      </p>
      {can('security:write') && (
        <p className="row-actions">
          <Button
            small
            busy={begin.isPending}
            aria-label={`Sign in to ${name}`}
            onClick={() => begin.mutate(undefined)}
          >
            Sign in
          </Button>
          {state === 'signed_in' && (
            <Button
              small
              busy={end.isPending}
              aria-label={`Sign out of ${name}`}
              onClick={() => end.mutate(undefined)}
            >
              Sign out
            </Button>
          )}
          <span role="status" className={failed === null ? 'help' : 'help help-problem'}>
            {failed?.message}
            {begin.data !== undefined && (
              <a href={begin.data.url} target="_blank" rel="noopener noreferrer" onClick={begin.reset}>
                Open {begin.data.issuer}
                {begin.data.scope !== null && ` for ${begin.data.scope}`}
              </a>
            )}
          </span>
        </p>
      )}
    </div>
  );
}

/**
 * Tools that changed, or are new on a server whose tools are pinned. They are withdrawn until someone approves them.
 */
function Quarantine(): ReactNode {
  const { can } = useSigned();
  const tools = usePages<ServerTool>('/admin/v1/mcp/tools', { query: { quarantined: true } });
  const items = tools.data?.pages.flatMap((page) => page.items) ?? [];
  if (items.length === 0) return null;
  return (
    <Card title="In quarantine">
      <p className="muted">
        These tools changed, or are new where tools are pinned. Agents do not see them until you approve them.
      </p>
      <ul className="cards">
        {items.map(({ server, tool, definition, pending, fingerprint, changed_at }) => (
          <li key={`${server} ${tool}`} className="quarantined">
            <div className="card-head">
              <strong className="mono break">
                {server} / {tool}
              </strong>
              {can('mcp:write') && (
                <ActionButton
                  path={`/admin/v1/mcp/servers/${encodeURIComponent(server)}/approve`}
                  label={`Approve ${tool} of ${server}`}
                  kind="primary"
                  body={{ tool, ...(fingerprint === null ? {} : { fingerprint }) }}
                >
                  Approve
                </ActionButton>
              )}
            </div>
            <p className="muted">
              changed <Ago at={changed_at} />
            </p>
            <div className="compare">
              <div>
                <p className="label">As it was approved</p>
                <Json value={definition} label={`${tool} as it was approved`} />
              </div>
              <div>
                <p className="label">As it is now</p>
                <Json value={pending} label={`${tool} as it is now`} />
              </div>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
