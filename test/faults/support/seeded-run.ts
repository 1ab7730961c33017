import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../harness/gateway-process.js';
import { CarefulLoad, type LoadSize } from './careful-load.js';
import { judge, type Verdict } from './checks/checker.js';
import { FaultInjector } from './fault-injector.js';
import { drawSchedule, type Fault, type Pace, describe as sentenceOf } from './fault-schedule.js';
import { HookAdmin } from './hook-admin.js';
import { Ledger } from './ledger.js';
import type { Stage } from './stage.js';

export interface RunPlan {
  readonly seed: number;
  readonly pace: Pace;
  readonly load: LoadSize;
  readonly isLong: boolean;
}

export interface Outcome extends Verdict {
  readonly figures: Readonly<Record<string, unknown>>;
  readonly ledger: Ledger;
}

/** Runs the load and the scheduled faults, waits until everything is calm, and judges. */
export async function seededRun(stage: Stage, plan: RunPlan): Promise<Outcome> {
  const schedule = scheduleFor(stage, plan);
  const ledger = new Ledger();
  process.stdout.write(`${[`FAULT_SEED=${plan.seed}`, ...schedule.map(sentenceOf)].join('\n')}\n`);
  const load = new CarefulLoad(stage, ledger, new HookAdmin(stage, ledger), plan.load);
  await load.start();
  await new FaultInjector(stage, ledger, plan.isLong).follow(schedule);
  // Some load without any fault: replicas that are back must work.
  await sleep(1000);
  await load.stop();
  const calmMs = await untilNothingRuns(stage, ledger, plan);
  const verdict = await judge(stage, ledger);
  if (verdict.violations.length > 0) keepLogs(stage, ledger);
  const figures = figuresOf(plan, stage, ledger, load, verdict);
  return { ...verdict, ledger, figures: { ...figures, calm_after_s: calmMs / 1000 } };
}

function scheduleFor(stage: Stage, { seed, pace }: RunPlan): Fault[] {
  const gateways = stage.places.map(({ name }) => name);
  return drawSchedule(seed, { gateways, databases: ['database-server'], ways: [...stage.ways.keys()] }, pace);
}

/**
 * The retry schedule of webhooks waits for minutes, by the database's clock; this makes deliveries due. The long form
 * leaves alone what is being attempted, and waits for what a dead replica attempted. The short form may send those
 * once more.
 */
const passTime = (isLong: boolean): string => `UPDATE hook_deliveries SET next_attempt_at = now()
  WHERE status = 'pending' AND attempts > 0 AND next_attempt_at > now() + interval '${isLong ? 50 : 1} seconds'`;
const LEFT = `SELECT (SELECT count(*)::int FROM hook_deliveries WHERE status = 'pending') AS deliveries,
  (SELECT count(*)::int FROM turns WHERE status IN ('waiting', 'running')) AS turns`;

/** @returns how long it took until nothing was under way, in milliseconds; what never ends is left to the checker */
async function untilNothingRuns(stage: Stage, ledger: Ledger, { isLong, pace }: RunPlan): Promise<number> {
  // What waits for receivers grows with the run.
  const limitMs = isLong ? 180_000 + pace.faults * 2000 : 60_000;
  const beganAt = performance.now();
  let left = 'everything';
  await until(async () => {
    await sleep(300);
    await stage.query(passTime(isLong));
    const [row] = await stage.query<{ deliveries: number; turns: number }>(LEFT);
    left = JSON.stringify(row);
    return row?.deliveries === 0 && row.turns === 0;
  }, limitMs).catch(() => {
    ledger.write({ kind: 'violation', sentence: `after ${limitMs} ms of calm there is still left: ${left}` });
  });
  return Math.round(performance.now() - beganAt);
}

function keepLogs({ places }: Stage, ledger: Ledger): void {
  for (const { name, processes } of places)
    for (const { pid, output } of processes) ledger.keep(`${name}-${pid}.log`, output());
}

function figuresOf(
  { seed }: RunPlan,
  stage: Stage,
  ledger: Ledger,
  load: CarefulLoad,
  { kept, violations }: Verdict,
): Record<string, unknown> {
  const faults = countBy(ledger.of('fault').map(({ fault }) => fault.kind));
  return {
    seed,
    faults,
    sessions: ledger.of('session').length,
    ended: ledger.of('ended').length,
    messages: ledger.of('message').length,
    refused: ledger.of('refused').length,
    answers: Object.fromEntries([...load.answers].sort()),
    turns: countBy(kept.turns.map(({ status }) => status)),
    longest_limbo_s: secondsUntilClosed(stage, kept),
    webhooks: { delivered: kept.deliveries.length, attempts: stage.receiver.attempts.length },
    settings: ledger.of('setting').length,
    violations: violations.length,
  };
}

/** From the end of a replica to the end of the last of its turns, in seconds. */
function secondsUntilClosed(stage: Stage, { turns }: Verdict['kept']): number {
  const killedAt = new Map(
    stage.places.flatMap(({ killed }) => killed.map(({ pid, at }) => [pid, at.getTime()])),
  );
  const waits = turns
    .filter(({ status }) => status === 'interrupted')
    .map(({ owner, ended }) => (ended ?? 0) - (killedAt.get(Number(owner?.split(':').at(-2))) ?? ended ?? 0));
  return Math.round(Math.max(0, ...waits)) / 1000;
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
