import { figure, type PromiseName } from '../harness/figure.js';
import { type RunPlan, seededRun } from './support/seeded-run.js';
import { Stage } from './support/stage.js';
import { embeddedDatabase, externalDatabase } from './support/stage-databases.js';

/**
 * The long form: FAULT_RUN=long, or a number of faults. FAULT_SEED repeats a schedule; the short form always has the
 * same one.
 */
const RUN = process.env['FAULT_RUN'];
const isLong = RUN !== undefined;
const FAULTS = isLong ? Number(RUN) || 40 : 8;
const SEED = Number(process.env['FAULT_SEED'] ?? (isLong ? Date.now() % 1_000_000 : 4711));

jest.setTimeout(300_000 + FAULTS * 20_000);

const PLAN: RunPlan = {
  seed: SEED,
  isLong,
  pace: isLong
    ? { faults: FAULTS, leastGapMs: 500, maxGapMs: 4000, maxMs: 4000 }
    : { faults: FAULTS, leastGapMs: 300, maxGapMs: 1200, maxMs: 1000 },
  load: isLong
    ? { talkers: 8, shared: 5, comers: 4, lateHooks: 4 }
    : { talkers: 4, shared: 4, comers: 2, lateHooks: 1 },
};

const PROMISES: readonly PromiseName[] = ['nothing-lost', 'webhooks', 'one-turn-at-a-time', 'once-per-key'];

const settings = [
  {
    title: 'three gateways on one PostgreSQL',
    database: 'external',
    open: () => Stage.open(3, externalDatabase),
  },
  {
    title: 'one gateway with its embedded PostgreSQL',
    database: 'embedded',
    open: () => Stage.open(1, embeddedDatabase),
  },
].filter(({ database }) => isLong || database === 'external');

test.each(settings)(
  `the seeded run (FAULT_SEED=${SEED}, ${FAULTS} faults), $title: nothing that was promised is broken`,
  async ({ open, database }) => {
    const stage = await open();
    try {
      const { violations, figures, ledger } = await seededRun(stage, PLAN);
      figure(PROMISES, { scenario: 'seeded run', database, ...figures });
      if (violations.length === 0) ledger.remove();
      else process.stdout.write(`${[`The ledger is ${ledger.file}`, ...violations].join('\n')}\n`);
      expect(violations).toEqual([]);
    } finally {
      await stage.close();
    }
  },
);
