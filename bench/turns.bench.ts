import { join } from 'node:path';
import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { Ask } from './harness/compare.js';
import { atLeast, atMost, figuresText, informs } from './harness/rows.js';
import { seedTalks } from './harness/seed.js';
import { HISTORY_MESSAGES, Stage } from './harness/stage.js';
import { TIMING } from './harness/timing.js';
import { turnLineMicros } from './turns/turn-queue.js';

const CLIENTS = 64;
/** Far more than there are database connections. */
const MANY_CLIENTS = 512;

/** V8 optimises the code of a turn after a few thousand turns; a gateway that has run for a minute is past that. */
const WARM_UP_MS = 10_000;

/**
 * A whole turn with a model that answers at once, compared with a relay that makes the same call and runs the same
 * two statements.
 */
export const turns: Benchmark = { name: 'turns', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const stage = await Stage.open(bench, { withProvider: true });
  const ids = await seedTalks(stage.database, MANY_CLIENTS, HISTORY_MESSAGES);
  const paths = ids.map((id) => `/api/v1/sessions/${id}/messages`);
  const many = await stage.compare(ask(paths, CLIENTS), { ...TIMING, warmUpMs: WARM_UP_MS });
  const most = await stage.compare(ask(paths, MANY_CLIENTS), { ...TIMING, slotMs: TIMING.slotMs * 2 });
  const one = await stage.compare(ask(paths, 1), { ...TIMING, slotMs: TIMING.slotMs / 2, warmUpMs: 500 });
  await stage.close();
  const path = `A whole turn, ${CLIENTS} sessions`;
  const measured = figuresText(many.figures('gateway'));
  const row = { path, measured, baseline: `relay: ${figuresText(many.figures('bare'))}` };
  const single = {
    path: 'A whole turn, one client',
    measured: figuresText(one.figures('gateway')),
    baseline: `relay: ${figuresText(one.figures('bare'))}`,
  };
  const { cpuMsPerRequest } = many.figures('gateway');
  return [
    atLeast(row, many.ratio('gateway', 'bare'), 0.6),
    ...(Number.isNaN(cpuMsPerRequest)
      ? []
      : [
          atMost({ path: `${path}: CPU a turn`, measured: '', baseline: '' }, cpuMsPerRequest, 2, 'ms'),
          lineRow(turnLineMicros(join(bench.folder, 'turn-lines.log')), cpuMsPerRequest),
        ]),
    atLeast(
      {
        path: `A whole turn, ${MANY_CLIENTS} sessions`,
        measured: figuresText(most.figures('gateway')),
        baseline: `relay: ${figuresText(most.figures('bare'))}`,
      },
      most.ratio('gateway', 'bare'),
      0.6,
    ),
    informs({ ...single, path: `${single.path}: rate` }, `${one.ratio('gateway', 'bare').toFixed(2)} ×`),
    atMost({ ...single, path: `${single.path}: p50` }, one.figures('gateway').p50Ms, 4, 'ms'),
    ...stage.rowsAgainstOther(path, many),
    ...stage.rowsAgainstOther(single.path, one),
  ];
}

/** The share of a turn's CPU that its log line takes. */
function lineRow(micros: number, cpuMsPerTurn: number): Row {
  const row = {
    path: "A whole turn: its line in the log, of the turn's CPU",
    measured: `${micros.toFixed(1)} µs`,
    baseline: `a turn: ${cpuMsPerTurn.toFixed(2)} ms`,
  };
  return atMost(row, micros / cpuMsPerTurn / 10, 3, '%');
}

/**
 * One client goes from session to session: a single session would collect within a minute what other sessions collect
 * in a year, and would be summarised.
 */
function ask(paths: readonly string[], clients: number): Ask {
  return { clients, method: 'POST', paths, ownPaths: clients > 1, body: '{"content":"How fast is this?"}' };
}
