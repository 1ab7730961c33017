import type { ReactNode } from 'react';
import type { Approval } from '../api/types';
import { useSigned } from '../auth/auth';
import { Link, setQuery, usePlace } from '../router';
import { DecideCall } from '../session/decide-call';
import { Badge } from '../ui/badge';
import { Filters, SelectField } from '../ui/fields';
import { Ago, Json } from '../ui/format';
import { Page } from '../ui/page';
import { usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { More } from '../ui/table';

const REFRESH_MS = 3000;

export default function Approvals(): ReactNode {
  const { query } = usePlace();
  const status = query.get('status') ?? 'pending';
  const approvals = usePages<Approval>('/admin/v1/approvals', { query: { status }, refreshMs: REFRESH_MS });
  return (
    <Page title="Approvals" description="Calls of tools that wait for a person.">
      <Filters label="Filter the approvals">
        <SelectField
          label="Status"
          value={status}
          options={[
            ['pending', 'Waiting'],
            ['allowed', 'Allowed within the last hour'],
            ['denied', 'Denied within the last hour'],
          ]}
          onChange={(value) => setQuery({ status: value === 'pending' ? '' : value })}
        />
      </Filters>
      <Loaded query={approvals}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) {
            return (
              <div className="card">
                <Empty title={status === 'pending' ? 'Nothing waits for you' : 'None within the last hour'}>
                  Which calls have to wait is set by agent.tool_approval and tools.approval.
                </Empty>
              </div>
            );
          }
          return (
            <ul className="cards">
              {items.map((approval) => (
                <ApprovalCard key={approval.id} approval={approval} />
              ))}
            </ul>
          );
        }}
      </Loaded>
      <More
        hasMore={approvals.hasNextPage}
        busy={approvals.isFetchingNextPage}
        onMore={() => void approvals.fetchNextPage()}
      />
    </Page>
  );
}

function ApprovalCard({ approval }: { readonly approval: Approval }): ReactNode {
  const { can } = useSigned();
  const { id, tool, status, user_id, channel, session_id, asked_at, expires_at, decided_by, reason } =
    approval;
  return (
    <li className="card">
      <div className="card-head">
        <h2 className="mono break">{tool}</h2>
        <Badge>{status}</Badge>
      </div>
      <p className="muted">
        For <strong className="break">{user_id}</strong> on {channel}, in{' '}
        {can('sessions:read') ? <Link to={`/sessions/${session_id}`}>this session</Link> : session_id}; asked{' '}
        <Ago at={asked_at} />
        {status === 'pending' ? (
          <>
            , refused automatically <Ago at={expires_at} />.
          </>
        ) : (
          <>
            , decided by <strong className="break">{decided_by}</strong>
            {reason === null ? '.' : `: ${reason}`}
          </>
        )}
      </p>
      <Json value={approval.arguments} label={`Arguments of ${tool}`} />
      {status === 'pending' && can('approvals:write') && <DecideCall id={id} tool={tool} />}
    </li>
  );
}
