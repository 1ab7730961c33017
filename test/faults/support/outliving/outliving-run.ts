import { figure, type PromiseName } from '../../../harness/figure.js';
import { randomFrom } from '../chance.js';
import { DeathWatch } from './death-watch.js';
import { TurnFleet } from './turn-fleet.js';
import { TurnTalk } from './turn-talk.js';
import { judgeTurns } from './turn-verdict.js';

/** Repeats the actions of replicas, model and tools. Which request a fault hits depends on the machine. */
export const OUTLIVE_SEED = Number(process.env['OUTLIVE_SEED'] ?? Date.now() % 1_000_000);
const CALLERS = Number(process.env['OUTLIVE_CALLERS'] ?? 8);

export interface FaultTerms {
  readonly fleet: TurnFleet;
  readonly deaths: DeathWatch;
  readonly random: () => number;
}

/** Runs `injectFaults` on three replicas while callers talk. Prints the figures, and fails for every broken promise. */
export async function outlivingRun(
  promise: PromiseName,
  injectFaults: (terms: FaultTerms) => Promise<Readonly<Record<string, unknown>>>,
) {
  const fleet = await TurnFleet.open(OUTLIVE_SEED);
  const deaths = new DeathWatch(fleet);
  try {
    const talk = new TurnTalk(fleet, CALLERS, randomFrom(OUTLIVE_SEED + 1));
    deaths.start();
    await talk.start();
    const beganAt = performance.now();
    const injected = await injectFaults({ fleet, deaths, random: randomFrom(OUTLIVE_SEED + 2) });
    const seconds = Math.round((performance.now() - beganAt) / 1000);
    await talk.stop();
    const { violations, figures } = await judgeTurns(fleet, talk, OUTLIVE_SEED);
    const nextStep = await deaths.nextSteps();
    const pauses = { death_to_take_up_s: deaths.takeUps(), death_to_next_step_s: nextStep };
    figure([promise], { seed: OUTLIVE_SEED, seconds, callers: CALLERS, ...injected, ...figures, ...pauses });
    if (violations.length > 0) process.stdout.write(`${violations.join('\n')}\n`);
    return { violations, figures, nextStep };
  } finally {
    await deaths.stop();
    await fleet.close();
  }
}
