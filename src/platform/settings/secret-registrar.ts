import type { Redactor } from '../logging/redactor.js';
import type { SettingsCandidate } from './candidate-builder.js';
import { secretValues } from './redaction.js';

const OWNER = 'settings';
const OWNER_TO_COME = 'settings to come';
const MAX_REMEMBERED = 1000;

/** Tells the redactor every secret of every layer of the configuration, before anyone else gets to see it. */
export class SecretRegistrar {
  private remembered: readonly string[] = [];

  constructor(private readonly redactor: Redactor) {}

  /** Hides the secrets of a configuration that may come. */
  expect(candidate: SettingsCandidate): void {
    this.redactor.setFor(OWNER_TO_COME, secretsOf(candidate));
  }

  /** Hides those of the one in force, and goes on hiding the newest earlier ones: running turns may speak of them. */
  register(candidate: SettingsCandidate): void {
    const inForce = new Set(secretsOf(candidate));
    const earlier = this.remembered.filter((secret) => !inForce.has(secret)).slice(-MAX_REMEMBERED);
    this.remembered = [...earlier, ...inForce];
    this.redactor.setFor(OWNER, this.remembered);
    this.redactor.setFor(OWNER_TO_COME, []);
  }
}

function secretsOf({ settings, layers, overrides }: SettingsCandidate): readonly string[] {
  return [settings, ...[...layers, overrides].map(({ tree }) => tree)].flatMap(secretValues);
}
