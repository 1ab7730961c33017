import type { Row } from '../benchmark.js';
import type { Bench } from './bench.js';
import type { Ask, Comparison, Contender } from './compare.js';
import type { BenchDatabase } from './database-server.js';
import { atLeast, figuresText } from './rows.js';
import { NEVER_SILENT } from './seed.js';
import type { Target } from './target.js';

const SMALL = 1000;
const LARGE = process.env['BENCH_LARGE'] === '1' ? 1_000_000 : 100_000;

export interface Sized {
  readonly size: number;
  readonly database: BenchDatabase;
  readonly gateway: Target;
  readonly bare: Target;
}

/** Two gateways that differ only in the size of their databases. */
export class TwoSizes {
  private constructor(
    readonly small: Sized,
    readonly large: Sized,
  ) {}

  static async open(bench: Bench): Promise<TwoSizes> {
    return new TwoSizes(await openSized(bench, SMALL), await openSized(bench, LARGE));
  }

  async close(): Promise<void> {
    for (const { gateway, bare, database } of [this.small, this.large]) {
      await gateway.stop();
      await bare.stop();
      await database.drop();
    }
  }
}

async function openSized(bench: Bench, size: number): Promise<Sized> {
  const database = await bench.database();
  const gateway = await bench.gateway({ databaseUrl: database.url, environment: NEVER_SILENT });
  const bare = await bench.bare({ databaseUrl: database.url, historyMessages: 1 });
  return { size, database, gateway, bare };
}

export function contender(target: Target, ask: Ask): Contender {
  return { target, plan: () => ask };
}

/** The same request at both sizes: its rate and its p99 (the smaller one's divided by the larger one's). */
export function flatRows<Name extends string>(
  path: string,
  comparison: Comparison<Name>,
  [small, large]: readonly [Name, Name],
  least: number,
): Row[] {
  const measured = figuresText(comparison.figures(large));
  const baseline = `at ${count(SMALL)}: ${figuresText(comparison.figures(small))}`;
  const name = `${path}, ${count(LARGE)}`;
  return [
    atLeast({ path: name, measured, baseline }, comparison.ratio(large, small), least),
    atLeast(
      { path: `${name}: p99`, measured: '', baseline: '' },
      comparison.ratio(small, large, 'p99Ms'),
      least,
    ),
  ];
}

function count(value: number): string {
  return value.toLocaleString('en');
}
