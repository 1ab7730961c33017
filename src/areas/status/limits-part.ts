import type { TakenLimit } from '../../platform/tokens/taken-limit.js';
import type { BudgetReports } from '../usage/usage.api.js';
import { type HealthPart, healthPart, namesOf } from './health-part.js';

/** From four fifths on somebody should look at it, as with budgets. */
const NEAR = 0.8;
const BUDGETS_ADVICE = 'Raise it in [limits], or wait for the next day or month in UTC.';

/** A limit that is reached, or nearly so. */
interface Tight {
  readonly isUsedUp: boolean;
  readonly text: string;
  readonly advice: string;
}

/**
 * Which budgets and limits of `[limits]` refuse somebody, or soon will: only a warning, because refusing is their
 * purpose.
 * @param taken of each kind of limit, as its owner counts it
 * @param here the limits that each replica has by itself
 */
export async function limitsPart(
  budgets: Pick<BudgetReports, 'noticed'>,
  taken: readonly Promise<TakenLimit[]>[],
  here: readonly TakenLimit[] = [],
): Promise<HealthPart> {
  const [noticed, counted] = await Promise.all([budgets.noticed(), Promise.all(taken)]);
  const tight = [
    ...noticed.map(
      ({ notice, scope, name, period }): Tight => ({
        isUsedUp: notice === 'reached',
        text: `${[scope, name].filter(Boolean).join(' ')} (${period})`,
        advice: BUDGETS_ADVICE,
      }),
    ),
    ...[...counted.flat(), ...here]
      .filter(({ limit, taken: used }) => limit > 0 && used >= limit * NEAR)
      .sort((one, other) => other.taken / other.limit - one.taken / one.limit)
      .map(tightLimit),
  ];
  if (tight.length === 0)
    return healthPart('limits', 'ok', 'no budget and no limit is used up, or nearly so');
  const [used, nearly] = [
    tight.filter(({ isUsedUp }) => isUsedUp),
    tight.filter(({ isUsedUp }) => !isUsedUp),
  ];
  const detail = [
    ...(used.length > 0 ? [`used up: ${namesOf(used.map(({ text }) => text))}`] : []),
    ...(nearly.length > 0 ? [`nearly used up: ${namesOf(nearly.map(({ text }) => text))}`] : []),
  ].join('; ');
  const advice = [...new Set([...used, ...nearly].map((one) => one.advice))].join(' ');
  return healthPart('limits', 'warning', detail, advice);
}

function tightLimit({ holder, what, taken, limit, advice }: TakenLimit): Tight {
  return {
    isUsedUp: taken >= limit,
    text: `${holder ?? 'all together'} (${taken} of ${limit} ${what})`,
    advice,
  };
}
