import { type ReactNode, useMemo } from 'react';
import type { Page as PageOf, UsageRow } from '../api/types';
import { useSigned } from '../auth/auth';
import { setQuery, usePlace } from '../router';
import { Filters, SelectField } from '../ui/fields';
import { compact, count, money } from '../ui/format';
import { Card, Page } from '../ui/page';
import { Plot } from '../ui/plot';
import { useGet, usePages } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, More, Table } from '../ui/table';

const DIMENSIONS = ['agent', 'user', 'model', 'channel', 'api_token', 'day'] as const;
type Dimension = (typeof DIMENSIONS)[number];
const NAMES: Readonly<Record<Dimension, string>> = {
  agent: 'Agent',
  user: 'User',
  model: 'Model',
  channel: 'Channel',
  api_token: 'Token',
  day: 'Day',
};
const SPANS = [
  ['1', 'Today (UTC)'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
] as const;
const USUAL = { by: 'agent', days: '30' } as const;
const DAY_MS = 86_400_000;

/** The first of this many days; the last one is today. */
function firstDay(days: string): string {
  return new Date(Date.now() - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);
}
/** Every day since then, up to today. A day without turns has a zero instead of a gap. */
function daysSince(first: string): string[] {
  const count = Math.floor((Date.now() - Date.parse(first)) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(first) + index * DAY_MS).toISOString().slice(0, 10),
  );
}
const REFRESH_MS = 30_000;

export default function Usage(): ReactNode {
  const { query } = usePlace();
  const { me } = useSigned();
  const by = DIMENSIONS.find((one) => one === query.get('by')) ?? USUAL.by;
  const days = SPANS.find(([one]) => one === query.get('days'))?.[0] ?? USUAL.days;
  const since = firstDay(days);
  const rows = usePages<UsageRow>('/admin/v1/usage', {
    query: { by, since, limit: 100 },
    refreshMs: REFRESH_MS,
  });
  return (
    <Page
      title="Usage"
      description={me.user_id === null ? 'What turns used and cost.' : 'What your turns used and cost.'}
    >
      <Filters label="Choose what to sum up">
        <SelectField
          label="By"
          value={by}
          options={DIMENSIONS.map((one) => [one, NAMES[one]] as const)}
          onChange={(value) => setQuery({ by: value === USUAL.by ? '' : value })}
        />
        <SelectField
          label="Since"
          value={days}
          options={SPANS}
          onChange={(value) => setQuery({ days: value === USUAL.days ? '' : value })}
        />
      </Filters>
      <Days since={since} />
      <Card flush>
        <Loaded query={rows}>
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            if (items.length === 0) return <Empty title="No turns in this period" />;
            return (
              <Table
                label={`Usage by ${NAMES[by]}`}
                columns={columnsOf(by)}
                rows={items}
                keyOf={(row) => row[by] ?? '(none)'}
              />
            );
          }}
        </Loaded>
        <More
          hasMore={rows.hasNextPage}
          busy={rows.isFetchingNextPage}
          onMore={() => void rows.fetchNextPage()}
        />
      </Card>
    </Page>
  );
}

function columnsOf(by: Dimension): readonly Column<UsageRow>[] {
  return [
    { name: NAMES[by], kind: 'wide', show: (row) => row[by] || '(none)' },
    { name: 'Turns', kind: 'number', show: ({ turns }) => count(turns) },
    { name: 'Input', kind: 'number', show: ({ input_tokens }) => compact(input_tokens) },
    {
      name: 'Of which cached',
      kind: 'number',
      show: ({ cached_input_tokens }) => compact(cached_input_tokens),
    },
    { name: 'Output', kind: 'number', show: ({ output_tokens }) => compact(output_tokens) },
    { name: 'Without a price', kind: 'number', show: ({ unpriced_tokens }) => compact(unpriced_tokens) },
    { name: 'Cost', kind: 'number', show: ({ cost_usd }) => money(cost_usd) },
  ];
}

const asMoney = (value: number): string => money(value);

/** The cost of each day. */
function Days({ since }: { readonly since: string }): ReactNode {
  const days = useGet<PageOf<UsageRow>>('/admin/v1/usage', {
    query: { by: 'day', since, limit: 100 },
    refreshMs: REFRESH_MS,
  });
  const items = days.data?.items;
  const plotted = useMemo(() => {
    const spent = new Map((items ?? []).map(({ day, cost_usd }) => [day, cost_usd ?? 0]));
    const times = daysSince(since);
    const values = times.map((day) => spent.get(day) ?? 0);
    return {
      times: times.map((day) => Date.parse(day) / 1000),
      lines: [{ name: 'Spent', color: '--plot-3', kind: 'bars', values }] as const,
      total: values.reduce((sum, usd) => sum + usd, 0),
    };
  }, [items, since]);
  if (items === undefined || items.length === 0) return null;
  return (
    <Card>
      <Plot
        title="Spend by day"
        times={plotted.times}
        lines={plotted.lines}
        format={asMoney}
        summary={`${money(plotted.total)} in total`}
      />
    </Card>
  );
}
