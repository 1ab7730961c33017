import type { Row } from '../benchmark.js';
import type { Bench } from '../harness/bench.js';
import { type Ask, type Contender, compare } from '../harness/compare.js';
import { atMost, informs, short } from '../harness/rows.js';
import {
  LONG_TALK_MESSAGES,
  longTalk,
  longTalkMessage,
  RARE_USER,
  sessionId,
  type World,
} from './seed-world.js';
import type { OpenWorld, Worlds } from './worlds.js';

/** Few requests for slow paths, so that the whole table takes minutes. */
const TIMING = {
  rounds: Number(process.env['BENCH_ROUNDS'] ?? 3),
  slotMs: Number(process.env['BENCH_SLOT_MS'] ?? 500),
  warmUpMs: 300,
};
/** The maximum ratio of the large world's median to the small world's. */
const MOST = 1.5;

type Path = (world: World) => string;
interface Read {
  readonly what: string;
  readonly path: Path;
  /** Why it may take longer in the large world, because it has more to read; such a row has no goal. */
  readonly grows?: string;
}

const messages =
  (of: Path, rest: Path): Path =>
  (world) =>
    `/api/v1/sessions/${of(world)}/messages?limit=50${rest(world)}`;
const longPage = (share: number): Path =>
  messages(
    longTalk,
    (world) => `&before=${longTalkMessage(world, Math.round(LONG_TALK_MESSAGES * share) + 1)}`,
  );
const usage =
  (by: string): Path =>
  () =>
    `/admin/v1/usage?by=${by}&limit=500`;

const READS: readonly Read[] = [
  { what: 'sessions, first page', path: () => '/api/v1/sessions?limit=50&status=all' },
  {
    what: 'sessions, at 90 %',
    path: ({ sessions }) => `/api/v1/sessions?limit=50&status=all&offset=${sessions * 0.9}`,
  },
  { what: 'live sessions, first page', path: () => '/api/v1/sessions?limit=50' },
  {
    what: 'ended sessions, at 50 %',
    path: ({ sessions }) => `/api/v1/sessions?limit=50&status=completed&offset=${sessions / 2}`,
  },
  { what: 'operators: sessions', path: () => '/admin/v1/sessions' },
  { what: 'operators: sessions of an agent', path: () => '/admin/v1/sessions?agent=support' },
  { what: 'operators: sessions of a user', path: () => '/admin/v1/sessions?user=user-17' },
  {
    what: 'operators: active sessions of a channel',
    path: () => '/admin/v1/sessions?status=active&channel=slack',
  },
  {
    what: 'search: a session by its id',
    path: ({ sessions }) => `/admin/v1/sessions?query=${sessionId(sessions / 2)}`,
  },
  { what: "search: a part of many users' ids", path: () => '/admin/v1/sessions?query=ser-1' },
  {
    what: "search: a part of nobody's id",
    path: () => '/admin/v1/sessions?query=nobody',
    grows: 'looks at 50,000 sessions at most',
  },
  { what: 'operators: turns', path: () => '/admin/v1/turns' },
  { what: 'operators: failed turns', path: () => '/admin/v1/turns?status=failed' },
  {
    what: 'operators: interrupted turns, of which there are none',
    path: () => '/admin/v1/turns?status=interrupted',
  },
  { what: 'operators: turns of a user', path: () => '/admin/v1/turns?user=user-17' },
  {
    what: 'operators: turns of a user with one old session',
    path: () => `/admin/v1/turns?user=${RARE_USER}`,
  },
  { what: 'operators: turns of an agent', path: () => '/admin/v1/turns?agent=support' },
  { what: 'operators: turns of an agent that has none', path: () => '/admin/v1/turns?agent=nobody' },
  { what: 'operators: turns of a session', path: () => `/admin/v1/turns?session=${sessionId(20)}` },
  { what: 'operators: a session with its sums', path: () => `/admin/v1/sessions/${sessionId(20)}` },
  {
    what: 'operators: a session of 50,000 turns with its sums',
    path: (world) => `/admin/v1/sessions/${longTalk(world)}`,
  },
  {
    what: 'history of 10 messages',
    path: messages(
      () => sessionId(20),
      () => '',
    ),
  },
  { what: 'history of 100,000 messages, newest page', path: messages(longTalk, () => '') },
  { what: 'history of 100,000 messages, in the middle', path: longPage(0.5) },
  { what: 'history of 100,000 messages, oldest page', path: longPage(0.0005) },
  { what: 'audit, first page', path: () => '/admin/v1/audit' },
  { what: 'audit of an actor', path: () => '/admin/v1/audit?actor=user-17' },
  { what: 'audit of a session', path: () => `/admin/v1/audit?subject=${sessionId(20)}` },
  {
    what: 'log lines of a day, with their count',
    path: () => '/api/v1/logs?since=24h&limit=100',
    grows: 'counts the lines, of which 500,000 are kept',
  },
  { what: 'usage of 30 days by day', path: usage('day'), grows: 'more rows to read' },
  { what: 'usage of 30 days by user', path: usage('user'), grows: 'more rows to read' },
  {
    what: 'usage of a year by day',
    path: () => '/admin/v1/usage?by=day&since=2020-01-01&limit=500',
    grows: 'more rows to read',
  },
  { what: 'overview of a day', path: () => '/admin/v1/overview' },
  {
    what: 'overview of a year',
    path: () => '/admin/v1/overview?since=365d',
    grows: 'counts 100,000 turns at most',
  },
];

/** What callers and operators read, with one client each, in turn in both worlds. */
export async function readRows(bench: Bench, { small, large }: Worlds): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { what, path, grows } of READS) {
    const compared = await compare(bench, { small: asking(small, path), large: asking(large, path) }, TIMING);
    const [few, many] = [compared.figures('small').p50Ms, compared.figures('large').p50Ms];
    const row = { path: what, measured: `p50 ${short(many)} ms`, baseline: `p50 ${short(few)} ms` };
    const ratio = compared.ratio('large', 'small', 'p50Ms');
    rows.push(
      grows === undefined
        ? atMost(row, ratio, MOST, '×')
        : informs({ ...row, measured: `${row.measured} (${grows})` }, `${short(ratio)} ×`),
    );
    console.error(`scale: ${what}: ${short(many)} ms, ${short(few)} ms, ${short(ratio)} ×`);
  }
  return rows;
}

function asking(world: OpenWorld, path: Path): Contender {
  const ask: Ask = { clients: 1, method: 'GET', paths: [path(world)] };
  return { target: world.gateway, plan: () => ask };
}
