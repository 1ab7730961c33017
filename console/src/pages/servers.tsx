import type { ReactNode } from 'react';
import type { ServerTool, ToolServer } from '../api/types';
import { useSigned } from '../auth/auth';
import { ActionButton } from '../ui/action-button';
import { Badge } from '../ui/badge';
import { Ago, Json } from '../ui/format';
import { Card, Page } from '../ui/page';
import { usePages } from '../ui/queries';
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
                <Empty title="No tool servers">Add them to the file of settings, under mcp.servers.</Empty>
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
        ; {connections.busy} connections of users at work, {connections.idle} idle
      </p>
      {error !== null && <p className="notice notice-danger">{error}</p>}
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

/** Tools that changed, or are new at a server whose tools are pinned: withdrawn until somebody looked at them. */
function Quarantine(): ReactNode {
  const { can } = useSigned();
  const tools = usePages<ServerTool>('/admin/v1/mcp/tools', { query: { quarantined: true } });
  const items = tools.data?.pages.flatMap((page) => page.items) ?? [];
  if (items.length === 0) return null;
  return (
    <Card title="In quarantine">
      <p className="muted">
        These tools changed, or are new where tools are pinned. Agents do not see them until you approve.
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
                <p className="label">Approved until now</p>
                <Json value={definition} label={`${tool} as it was approved`} />
              </div>
              <div>
                <p className="label">What the server says now</p>
                <Json value={pending} label={`${tool} as it is now`} />
              </div>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
