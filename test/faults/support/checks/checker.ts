import type { Ledger } from '../ledger.js';
import type { Stage } from '../stage.js';
import { lostOrTwice } from './acknowledged.js';
import type { Kept } from './kept.js';
import { readKept } from './read-kept.js';
import { wrongTurns } from './turns.js';
import { wrongWebhooks } from './webhooks.js';

export interface Verdict {
  readonly kept: Kept;
  readonly violations: readonly string[];
}

/** Compares what was acknowledged with the database and the receivers. Returns a sentence for each violation. */
export async function judge(stage: Stage, ledger: Ledger): Promise<Verdict> {
  const kept = await readKept(stage.query);
  return {
    kept,
    violations: [
      ...stage.places.flatMap(({ fell }) => fell),
      ...ledger.of('violation').map(({ sentence }) => sentence),
      ...lostOrTwice(ledger, kept),
      ...wrongTurns(ledger, kept, stage.tools),
      ...wrongWebhooks(ledger, kept, stage.receiver.attempts),
      ...(await wrongTotals(stage, kept)),
    ],
  };
}

/** The totals of lists come from a tally beside the rows. Profile A's list leaves out sessions that have ended, and has those that are idle. */
async function wrongTotals(stage: Stage, kept: Kept): Promise<string[]> {
  const sessions = kept.sessions.filter(({ status }) => status !== 'terminated');
  const wrong: string[] = [];
  for (const { name, at } of stage.places.map((place) => ({ name: place.name, at: place.at('a') }))) {
    const answer = await at?.get<{ total: number }>('/sessions?limit=1').catch(() => undefined);
    if (answer?.body.total !== sessions.length)
      wrong.push(`${name} counts ${answer?.body.total} sessions and there are ${sessions.length}`);
  }
  return wrong;
}
