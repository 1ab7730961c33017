/** Other work on the machine makes more rounds necessary. What costs too much is found in every round. */
const LEAST_ROUNDS = 3;
const MAX_ROUNDS = 12;

/**
 * How many times the cost of something usual an attack costs. Measures both in turn and takes the cheapest of each: other
 * work on the machine can only make a round more expensive. Ends as soon as the ratio is below `max`, after `leastRounds` at
 * the earliest.
 */
export async function leastRatio(
  attack: () => Promise<number>,
  usual: () => Promise<number>,
  max: number,
  leastRounds = LEAST_ROUNDS,
): Promise<number> {
  const least = { usual: Number.POSITIVE_INFINITY, attack: Number.POSITIVE_INFINITY };
  const ratio = () => least.attack / least.usual;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (round >= leastRounds && ratio() < max) break;
    least.usual = Math.min(least.usual, await usual());
    least.attack = Math.min(least.attack, await attack());
  }
  return ratio();
}
