import type { Benchmark, Row } from './benchmark.js';
import type { Bench } from './harness/bench.js';
import type { Ask } from './harness/compare.js';
import { atLeast, figuresText } from './harness/rows.js';
import { seedSessions, vacuum } from './harness/seed.js';
import { Stage } from './harness/stage.js';
import { TIMING } from './harness/timing.js';

const CLIENTS = 64;
const CREATE: Ask = {
  clients: CLIENTS,
  method: 'POST',
  paths: ['/api/v1/sessions'],
  body: '{"user_id":"bench"}',
};

/** Creating and reading a session, against the same SQL without a gateway around it. */
export const sessions: Benchmark = { name: 'sessions', run };

async function run(bench: Bench): Promise<readonly Row[]> {
  const stage = await Stage.open(bench);
  const ids = await seedSessions(stage.database, 1000);
  await vacuum(stage.database);
  const find: Ask = { clients: CLIENTS, method: 'GET', paths: ids.map((id) => `/api/v1/sessions/${id}`) };
  const rows = [
    ...(await againstBare(stage, `POST /sessions, ${CLIENTS} clients`, CREATE, 0.6)),
    ...(await againstBare(stage, `GET /sessions/:id, ${CLIENTS} clients`, find, 0.45)),
  ];
  await stage.close();
  return rows;
}

async function againstBare(stage: Stage, path: string, ask: Ask, least: number): Promise<Row[]> {
  const comparison = await stage.compare(ask, TIMING);
  const measured = figuresText(comparison.figures('gateway'));
  const baseline = `bare: ${figuresText(comparison.figures('bare'))}`;
  return [
    atLeast({ path, measured, baseline }, comparison.ratio('gateway', 'bare'), least),
    ...stage.rowsAgainstOther(path, comparison),
  ];
}
