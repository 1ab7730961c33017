import { type ReactNode, useMemo } from 'react';
import type { Overview as OverviewData } from '../api/types';
import { useSigned } from '../auth/auth';
import { Link, setQuery, usePlace } from '../router';
import { Badge } from '../ui/badge';
import { SelectField } from '../ui/fields';
import { Ago, compact, money, spanOf } from '../ui/format';
import { Card, Page } from '../ui/page';
import { Plot } from '../ui/plot';
import { useGet } from '../ui/queries';
import { Loaded } from '../ui/states';

const WINDOWS = [
  ['1h', 'Last hour'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
] as const;
const USUAL = '24h';

/** Whether the gateway is healthy, what is happening, and what needs the reader's attention. */
export default function Overview(): ReactNode {
  const { query } = usePlace();
  const since = query.get('since') ?? USUAL;
  const overview = useGet<OverviewData>('/admin/v1/overview', { query: { since } });
  return (
    <Page
      title="Overview"
      description={overview.data && <Uptime health={overview.data.health} />}
      actions={
        <SelectField
          label="Show"
          value={since}
          options={WINDOWS}
          onChange={(value) => setQuery({ since: value === USUAL ? '' : value })}
        />
      }
    >
      <Loaded query={overview}>
        {(data) => (
          <>
            <div className="first-look">
              <div className="cards">
                <Attention items={data.attention} />
                <Now data={data} />
              </div>
              <Health health={data.health} />
              <Plots data={data} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Uptime({ health }: Pick<OverviewData, 'health'>): ReactNode {
  return (
    <>
      <Badge>{health.status}</Badge> running for {spanOf(health.uptime_secs)}, version {health.version}
    </>
  );
}

/** The page where each kind of trouble is shown. */
const PLACES: Readonly<Record<string, string>> = {
  approval: '/approvals',
  channel: '/channels',
  mcp_server: '/servers',
  tool_quarantine: '/servers',
  hook: '/hooks',
  model: '/agents',
  budget: '/usage',
};

function Attention({ items }: { readonly items: OverviewData['attention'] }): ReactNode {
  return (
    <Card title="Needs attention">
      {items.length === 0 ? (
        <p className="muted">Nothing: no call waits for approval, and nothing is failing.</p>
      ) : (
        <ul className="attention">
          {items.map(({ kind, name, text, since, count }) => (
            <li key={`${kind} ${name}`}>
              <Badge tone={kind === 'approval' ? 'info' : 'bad'}>{kind.replaceAll('_', ' ')}</Badge>
              <span className="attention-text">
                <Link to={PLACES[kind] ?? '/'}>{name === '' ? 'Decide' : name}</Link>
                <span className="break">
                  {' '}
                  {text}
                  {count > 1 && ` (${count})`}
                </span>
              </span>
              {since !== null && (
                <span className="muted">
                  <Ago at={since} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Now({ data: { now, totals } }: { readonly data: OverviewData }): ReactNode {
  const { can } = useSigned();
  const figures: readonly (readonly [string, string, string | undefined])[] = [
    ['Turns running', compact(now.turns_running), undefined],
    ['Turns waiting', compact(now.turns_waiting), undefined],
    ['Live sessions', compact(now.sessions_live), can('sessions:read') ? '/sessions?status=live' : undefined],
    ['Approvals waiting', compact(now.approvals_pending), can('approvals:read') ? '/approvals' : undefined],
    ['Turns', compact(totals.turns), undefined],
    ['Failed', compact(totals.failed), undefined],
    ['Tokens', compact(totals.input_tokens + totals.output_tokens), undefined],
    ['Spent', money(totals.cost_usd), undefined],
  ];
  return (
    <dl className="figures">
      {figures.map(([name, value, to]) => (
        <div key={name} className="figure">
          <dt>{name}</dt>
          <dd>{to === undefined ? value : <Link to={to}>{value}</Link>}</dd>
        </div>
      ))}
    </dl>
  );
}

const asCount = (value: number): string => compact(Math.round(value * 10) / 10);
const asMoney = (value: number): string => money(value);

function Plots({ data: { series, totals } }: { readonly data: OverviewData }): ReactNode {
  const { times, turns, errors, spend } = useMemo(
    () => ({
      times: series.map(({ at }) => Date.parse(at) / 1000),
      turns: [
        { name: 'Turns', color: '--plot-1', kind: 'bars', values: series.map((one) => one.turns) },
      ] as const,
      errors: [
        { name: 'Failed', color: '--plot-2', kind: 'bars', values: series.map((one) => one.failed) },
      ] as const,
      spend: [
        { name: 'Spent', color: '--plot-3', kind: 'area', values: series.map((one) => one.cost_usd ?? 0) },
      ] as const,
    }),
    [series],
  );
  return (
    <div className="plots">
      <Card>
        <Plot
          title="Turns"
          times={times}
          lines={turns}
          format={asCount}
          whole
          summary={`${compact(totals.turns)} in total`}
        />
      </Card>
      <Card>
        <Plot
          title="Errors"
          times={times}
          lines={errors}
          format={asCount}
          whole
          summary={`${compact(totals.failed)} turns failed`}
        />
      </Card>
      <Card>
        <Plot title="Spend" times={times} lines={spend} format={asMoney} summary={money(totals.cost_usd)} />
      </Card>
    </div>
  );
}

const WORST_FIRST = ['failing', 'warning', 'ok'];

function Health({ health: { parts } }: Pick<OverviewData, 'health'>): ReactNode {
  const sorted = WORST_FIRST.flatMap((status) => parts.filter((part) => part.status === status));
  return (
    <Card title="Health of every part">
      <ul className="parts">
        {sorted.map(({ name, status, detail, advice }) => (
          <li key={name} className="part">
            <span className="part-line">
              <strong className="break">{name}</strong>
              <Badge>{status}</Badge>
            </span>
            <span className="muted break">{detail}</span>
            {advice !== null && <span className="break">{advice}</span>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
