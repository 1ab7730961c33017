import { serveHelper } from '../serve-helper.js';
import type { LoadPlan, LoadResult } from './load-plan.js';
import { LoadRun } from './load-run.js';

await serveHelper<object, LoadPlan, LoadResult>(() =>
  Promise.resolve({ ready: true, answer: (plan) => new LoadRun(plan).run() }),
);
