import type { Row } from '../benchmark.js';
import type { Bench } from './bench.js';
import { type Ask, type Comparison, type Contender, compare, type Timing } from './compare.js';
import type { BenchDatabase } from './database-server.js';
import type { GatewayProcess } from './gateway-process.js';
import { figuresText, informs } from './rows.js';
import { NEVER_SILENT } from './seed.js';
import type { Target } from './target.js';

/** Messages of a session before a benchmark begins. */
export const HISTORY_MESSAGES = 10;
/** The default limit of what a model is given. With a lower one the history would be summarised every few turns. */
const MOST_MESSAGES = 200;

export interface StageOptions {
  readonly withProvider?: boolean;
}

type Names = 'gateway' | 'bare' | 'other';

/**
 * A database with the gateway and the baseline on it. With BENCH_AGAINST=<folder> the build of another checkout takes
 * part, to show what a change brought.
 */
export class Stage {
  private constructor(
    private readonly bench: Bench,
    readonly database: BenchDatabase,
    readonly gateway: GatewayProcess,
    readonly bare: Target,
    private readonly others: readonly GatewayProcess[],
    private readonly stopProvider: () => Promise<void>,
  ) {}

  static async open(bench: Bench, { withProvider = false }: StageOptions = {}): Promise<Stage> {
    const database = await bench.database();
    const provider = withProvider ? await bench.provider() : undefined;
    const options = {
      databaseUrl: database.url,
      providerUrl: provider?.url,
      environment: NEVER_SILENT,
    };
    const gateway = await bench.gateway(options);
    const checkout = process.env['BENCH_AGAINST'];
    const others = checkout ? [await bench.gateway({ ...options, checkout })] : [];
    const bare = await bench.bare({
      databaseUrl: database.url,
      historyMessages: MOST_MESSAGES,
      providerUrl: provider?.url,
    });
    return new Stage(bench, database, gateway, bare, others, async () => provider?.stop());
  }

  /** Sends the same requests to all of them. */
  compare(ask: Ask, timing: Timing): Promise<Comparison<Names>> {
    const contender = (target: Target): Contender => ({ target, plan: () => ask });
    const [other] = this.others;
    const contenders = {
      gateway: contender(this.gateway),
      bare: contender(this.bare),
      ...(other === undefined ? {} : { other: contender(other) }),
    };
    return compare(this.bench, contenders as Record<Names, Contender>, timing);
  }

  /** What became faster or slower than in the other checkout; no rows without one. */
  rowsAgainstOther(path: string, comparison: Comparison<Names>): Row[] {
    return this.others.map((other) => {
      const row = {
        path: `${path}: against ${other.name}`,
        measured: figuresText(comparison.figures('gateway')),
        baseline: figuresText(comparison.figures('other')),
      };
      const [rate, cpu] = [
        comparison.ratio('gateway', 'other'),
        comparison.ratio('gateway', 'other', 'cpuMsPerRequest'),
      ];
      return informs(row, `${rate.toFixed(3)} ×, CPU ${cpu.toFixed(3)} ×`);
    });
  }

  async close(): Promise<void> {
    for (const target of [this.gateway, this.bare, ...this.others]) await target.stop();
    await this.stopProvider();
    await this.database.drop();
  }
}
