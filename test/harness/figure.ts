import { appendFileSync } from 'node:fs';

/** The promises that this project makes, each with the name under which `npm run test:faults` shows it. */
export type PromiseName =
  | 'nothing-lost'
  | 'webhooks'
  | 'one-turn-at-a-time'
  | 'turns-outlive-kills'
  | 'turns-outlive-restarts'
  | 'turns-outlive-all'
  | 'once-per-key'
  | 'decided-once'
  | 'faces'
  | 'rate-limit'
  | 'revoked-tokens'
  | 'rolling-restarts'
  | 'own-calls-only'
  | 'no-child-outlives'
  | 'bad-input'
  | 'no-secret-leaves'
  | 'no-private-address';

/** One line of figures for promises: to the file that FIGURES_FILE names, else to standard output. */
export function figure(promises: readonly PromiseName[], figures: Readonly<Record<string, unknown>>): void {
  const line = `${JSON.stringify({ promises, ...figures })}\n`;
  const file = process.env['FIGURES_FILE'];
  if (file === undefined) process.stdout.write(line);
  else appendFileSync(file, line);
}
