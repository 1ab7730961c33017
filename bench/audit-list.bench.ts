import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import { type Ask, compare } from './harness/compare.js';
import { figuresText, informs } from './harness/rows.js';
import { seedAudit, vacuum } from './harness/seed.js';
import { TIMING } from './harness/timing.js';
import { contender, flatRows, TwoSizes } from './harness/two-sizes.js';

const page = (filter: string): Ask => ({
  clients: 16,
  method: 'GET',
  paths: [`/admin/v1/audit?limit=50${filter}`],
});
/** A tenth of the rows, so that even the small audit fills a page. */
const COMMON = '&action=tool.called_7';
/** One row in a thousand. This filter uses another index. */
const RARE = '&actor=user-7';

/** The operators' list of the audit: as fast with many rows as with few. Reading a page adds a row on both sides. */
export const auditList: Benchmark = { name: 'audit-list', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const sizes = await TwoSizes.open(bench);
  const { small, large } = sizes;
  for (const { database, size } of [small, large]) {
    await seedAudit(database, size);
    await vacuum(database);
  }
  const slots = { ...TIMING, slotMs: TIMING.slotMs / 1.5, warmUpMs: 1500 };
  const both = (ask: Ask) => ({
    small: contender(small.gateway, ask),
    large: contender(large.gateway, ask),
  });
  const first = await compare(bench, both(page('')), slots);
  const common = await compare(bench, both(page(COMMON)), slots);
  const rare = await compare(bench, { large: contender(large.gateway, page(RARE)) }, slots);
  await sizes.close();
  return [
    ...flatRows('GET /admin/v1/audit, first page', first, ['small', 'large'], 0.9),
    ...flatRows('GET /admin/v1/audit, first page of an action', common, ['small', 'large'], 0.9),
    informs(
      {
        path: 'GET /admin/v1/audit, first page of a rare actor: against that of an action',
        measured: figuresText(rare.figures('large')),
        baseline: figuresText(common.figures('large')),
      },
      `${(rare.figures('large').perSecond / common.figures('large').perSecond).toFixed(2)} ×`,
    ),
  ];
}
