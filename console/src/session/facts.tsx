import type { ReactNode } from 'react';
import type { SessionDetail, Turn } from '../api/types';
import { Badge } from '../ui/badge';
import { Ago, compact, duration, Json, money } from '../ui/format';
import { usePages } from '../ui/queries';
import { Loaded } from '../ui/states';
import { More } from '../ui/table';

/** What is known about a session, and its turns. */
export function SessionFacts({ session }: { readonly session: SessionDetail }): ReactNode {
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['User', session.user_id],
    ['Channel', session.channel],
    ['Agent', session.agent],
    ['Model', session.model ?? "the agent's"],
    ['Created', <Ago key="created" at={session.created_at} />],
    ['Last activity', <Ago key="active" at={session.last_activity} />],
    ['Messages', compact(session.message_count)],
    ['Tokens in', compact(session.input_tokens)],
    ['Tokens out', compact(session.output_tokens)],
    ['Cost', money(session.cost_usd)],
  ];
  return (
    <aside className="session-facts" aria-label="About this session">
      <div className="card">
        <h2>About this session</h2>
        <dl className="facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd className="break">{value}</dd>
            </div>
          ))}
        </dl>
        {Object.keys(session.metadata).length > 0 && (
          <>
            <h3>Metadata</h3>
            <Json value={session.metadata} label="Metadata" />
          </>
        )}
      </div>
      <Turns id={session.id} />
    </aside>
  );
}

function Turns({ id }: { readonly id: string }): ReactNode {
  const turns = usePages<Turn>('/admin/v1/turns', { query: { session: id, limit: 10 } });
  return (
    <div className="card">
      <h2>Turns</h2>
      <Loaded query={turns}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0) return <p className="muted">None yet.</p>;
          return (
            <ol className="turns">
              {rows.map((turn) => (
                <li key={turn.id}>
                  <span className="turns-line">
                    <Badge>{turn.status}</Badge>
                    <Ago at={turn.created_at} />
                  </span>
                  <span className="muted">
                    {duration(turn.duration_ms)} · {compact(turn.input_tokens + turn.output_tokens)} tokens ·{' '}
                    {money(turn.cost_usd)}
                    {turn.reason !== null && ` · ${turn.reason}`}
                  </span>
                </li>
              ))}
            </ol>
          );
        }}
      </Loaded>
      <More
        hasMore={turns.hasNextPage}
        busy={turns.isFetchingNextPage}
        onMore={() => void turns.fetchNextPage()}
      />
    </div>
  );
}
