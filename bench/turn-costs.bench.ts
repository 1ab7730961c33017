import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { compare } from './harness/compare.js';
import { atMost, figuresText, informs } from './harness/rows.js';
import { NEVER_SILENT, seedTalks } from './harness/seed.js';
import { HISTORY_MESSAGES } from './harness/stage.js';
import { TIMING } from './harness/timing.js';
import { contender } from './harness/two-sizes.js';

const CLIENTS = 64;
/** A turn's code is compiled for speed after some thousands of turns. */
const WARM_UP_MS = 8000;
const MOST_PERCENT = 3;

/** A price of the model, and a budget of each kind that no turn reaches. */
const MONEY = {
  'GATEWAY__PRICES__"default/bench"__INPUT': '3',
  'GATEWAY__PRICES__"default/bench"__OUTPUT': '15',
  GATEWAY__LIMITS__ALL__MONTHLY_USD: '1000000',
  GATEWAY__LIMITS__EACH_USER__DAILY_USD: '1000000',
  GATEWAY__LIMITS__EACH_API_TOKEN__DAILY_USD: '1000000',
  GATEWAY__LIMITS__EACH_AGENT__MONTHLY_USD: '1000000',
};
const PRICES = Object.fromEntries(Object.entries(MONEY).filter(([name]) => name.includes('PRICES')));

/**
 * A whole turn with prices and budgets against the same without, each gateway on a database of its own, which does its own
 * summing up. A second gateway without them shows how much of a difference is the machine's.
 */
export const turnCosts: Benchmark = { name: 'turn-costs', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const provider = await bench.provider();
  const stages = {
    off: await stage(bench, provider.url, {}),
    prices: await stage(bench, provider.url, PRICES),
    on: await stage(bench, provider.url, MONEY),
    again: await stage(bench, provider.url, {}),
  };
  const { off, prices, on, again } = stages;
  const compared = await compare(
    bench,
    { off: off.asked, prices: prices.asked, on: on.asked, again: again.asked },
    { ...TIMING, warmUpMs: WARM_UP_MS },
  );
  for (const one of Object.values(stages)) await one.close();
  await provider.stop();
  const cpu = (name: keyof typeof stages) => 100 * (compared.ratio(name, 'off', 'cpuMsPerRequest') - 1);
  const row = (name: keyof typeof stages, what: string) => ({
    path: `A whole turn, ${CLIENTS} sessions, ${what}`,
    measured: figuresText(compared.figures(name)),
    baseline: `without prices and budgets: ${figuresText(compared.figures('off'))}`,
  });
  const rate = (name: keyof typeof stages) => `${compared.ratio(name, 'off').toFixed(2)} × the rate`;
  return [
    atMost(row('prices', 'priced: CPU more'), cpu('prices'), MOST_PERCENT, '%'),
    atMost(row('on', 'priced, with four budgets: CPU more'), cpu('on'), MOST_PERCENT, '%'),
    informs(row('on', 'priced, with four budgets: rate'), rate('on')),
    informs(
      row('again', 'the same as without: what the machine makes of it'),
      `CPU ${cpu('again').toFixed(1)} % more, ${rate('again')}`,
    ),
  ];
}

async function stage(bench: Bench, providerUrl: string, money: Readonly<Record<string, string>>) {
  const database = await bench.database();
  const gateway = await bench.gateway({
    ...{ databaseUrl: database.url, providerUrl },
    environment: { ...NEVER_SILENT, ...money, GATEWAY__PROVIDER__MODEL: 'bench' },
  });
  const ids = await seedTalks(database, CLIENTS, HISTORY_MESSAGES);
  const paths = ids.map((id) => `/api/v1/sessions/${id}/messages`);
  const body = '{"content":"What does it cost?"}';
  return {
    asked: contender(gateway, { clients: CLIENTS, method: 'POST', paths, ownPaths: true, body }),
    close: async () => {
      await gateway.stop();
      await database.drop();
    },
  };
}
