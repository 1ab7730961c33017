import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { compareFresh, type ShortLivedContender } from './harness/fresh.js';
import { atMost, figuresText, informs } from './harness/rows.js';
import { NEVER_SILENT, seedTalks } from './harness/seed.js';
import { HISTORY_MESSAGES } from './harness/stage.js';
import { TIMING } from './harness/timing.js';

const CLIENTS = 64;
/** V8 optimises the code of a turn after a few thousand turns. */
const WARM_UP_MS = 7000;
const SLOT_MS = 3000;
const MOST_PERCENT = 3;

/** A price for the model, and a budget of each kind that no turn reaches. */
const MONEY = {
  'GATEWAY__PRICES__"default/bench"__INPUT': '3',
  'GATEWAY__PRICES__"default/bench"__OUTPUT': '15',
  GATEWAY__LIMITS__ALL__MONTHLY_USD: '1000000',
  GATEWAY__LIMITS__EACH_USER__DAILY_USD: '1000000',
  GATEWAY__LIMITS__EACH_API_TOKEN__DAILY_USD: '1000000',
  GATEWAY__LIMITS__EACH_AGENT__MONTHLY_USD: '1000000',
};

/**
 * CPU of a whole turn with prices and budgets, compared with the same turn without; each slot has a new process, and
 * each side its own database. A second contender without them shows the noise of the machine. With
 * BENCH_AGAINST=<folder> the build of another checkout, without them, takes part.
 */
export const turnCosts: Benchmark = { name: 'turn-costs', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const provider = await bench.provider();
  const checkout = process.env['BENCH_AGAINST'];
  const open = (money: Readonly<Record<string, string>>, build?: string) => () =>
    passing(bench, { providerUrl: provider.url, money, checkout: build });
  const openers = {
    ...{ off: open({}), on: open(MONEY), again: open({}) },
    ...(checkout ? { other: open({}, checkout) } : {}),
  };
  const found = await compareFresh(bench, openers as Required<typeof openers>, {
    ...{ rounds: TIMING.rounds, slotMs: SLOT_MS, warmUpMs: WARM_UP_MS },
  });
  await provider.stop();
  type Name = keyof typeof openers;
  const cpu = (one: Name, other: Name) => 100 * (found.ratio(one, other, 'cpuMsPerRequest') - 1);
  const row = (name: Name, against: Name, what: string) => ({
    path: `A whole turn, ${CLIENTS} sessions, ${what}`,
    measured: figuresText(found.figures(name)),
    baseline: figuresText(found.figures(against)),
  });
  const percent = (one: Name, other: Name) =>
    `CPU ${cpu(one, other).toFixed(1)} % more, ${found.ratio(one, other).toFixed(2)} × the rate`;
  return [
    atMost(row('on', 'off', 'priced, with four budgets: CPU more'), cpu('on', 'off'), MOST_PERCENT, '%'),
    informs(
      row('again', 'off', 'the same as without: what the machine makes of it'),
      percent('again', 'off'),
    ),
    ...(checkout
      ? [informs(row('off', 'other', `without, against ${checkout}`), percent('off', 'other'))]
      : []),
  ];
}

interface Wish {
  readonly providerUrl: string;
  readonly money: Readonly<Record<string, string>>;
  readonly checkout: string | undefined;
}

async function passing(bench: Bench, { providerUrl, money, checkout }: Wish): Promise<ShortLivedContender> {
  const database = await bench.database();
  const gateway = await bench.gateway({
    ...{ databaseUrl: database.url, providerUrl, checkout },
    environment: { ...NEVER_SILENT, ...money, GATEWAY__PROVIDER__MODEL: 'bench' },
  });
  const ids = await seedTalks(database, CLIENTS, HISTORY_MESSAGES);
  const paths = ids.map((id) => `/api/v1/sessions/${id}/messages`);
  const ask = {
    ...{ clients: CLIENTS, method: 'POST' as const, paths, ownPaths: true },
    body: '{"content":"What does it cost?"}',
  };
  return {
    target: gateway,
    plan: () => ask,
    close: async () => {
      await gateway.stop();
      await database.drop();
    },
  };
}
