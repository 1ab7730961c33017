import { appendFileSync } from 'node:fs';

/** The promises of this project, by the names that `npm run test:faults` uses. */
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

/** Writes a line of figures for promises: to the file in FIGURES_FILE, otherwise to standard output. */
export function figure(promises: readonly PromiseName[], figures: Readonly<Record<string, unknown>>): void {
  const line = `${JSON.stringify({ promises, ...figures })}\n`;
  const file = process.env['FIGURES_FILE'];
  if (file === undefined) process.stdout.write(line);
  else appendFileSync(file, line);
}
