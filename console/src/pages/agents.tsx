import type { ReactNode } from 'react';
import type { Agent, AgentModel } from '../api/types';
import { useSigned } from '../auth/auth';
import { Link } from '../router';
import { Badge } from '../ui/badge';
import { compact, money } from '../ui/format';
import { Page } from '../ui/page';
import { usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { More } from '../ui/table';

export default function Agents(): ReactNode {
  const agents = usePages<Agent>('/admin/v1/agents');
  return (
    <Page title="Agents" description="Who answers here, with which models, and what that cost today.">
      <Loaded query={agents}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0) return <Empty title="No agents" />;
          return (
            <ul className="grid">
              {items.map((agent) => (
                <AgentCard key={agent.name} agent={agent} />
              ))}
            </ul>
          );
        }}
      </Loaded>
      <More
        hasMore={agents.hasNextPage}
        busy={agents.isFetchingNextPage}
        onMore={() => void agents.fetchNextPage()}
      />
    </Page>
  );
}

function AgentCard({ agent }: { readonly agent: Agent }): ReactNode {
  const { can } = useSigned();
  const { name, description, models, tools, skills, memory, users, sessions, spent_today_usd } = agent;
  const sessionsText = compact(sessions);
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      'Sessions',
      can('sessions:read') ? (
        <Link key="sessions" to={`/sessions?agent=${encodeURIComponent(name)}`}>
          {sessionsText}
        </Link>
      ) : (
        sessionsText
      ),
    ],
    ['Spent today', money(spent_today_usd)],
    ['Tools', toolsText(tools)],
    ['Skills', listed(skills)],
    ['Memory', memory ? 'remembers its users' : 'off'],
    ['For', listed(users, 'everyone')],
  ];
  return (
    <li className="card">
      <div className="card-head">
        <h2 className="break">{name}</h2>
      </div>
      {description !== '' && <p className="muted break">{description}</p>}
      <ol className="models">
        {models.map((model, index) => (
          <Model key={model.name} model={model} place={index} />
        ))}
      </ol>
      <dl className="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd className="break">{value}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

function Model({
  model: { name, status, reason },
  place,
}: {
  readonly model: AgentModel;
  readonly place: number;
}): ReactNode {
  return (
    <li>
      <span className="mono break">{name}</span>
      <Badge>{status}</Badge>
      {place > 0 && <span className="muted">fallback</span>}
      {reason !== null && <span className="muted break">{reason}</span>}
    </li>
  );
}

function toolsText({ allow, deny }: Agent['tools']): string {
  const allowed = listed(allow);
  return deny.length === 0 ? allowed : `${allowed}, but ${deny.join(', ')}`;
}

function listed(names: readonly string[], all = 'all'): string {
  if (names.includes('*')) return all;
  return names.length === 0 ? 'none' : names.join(', ');
}
