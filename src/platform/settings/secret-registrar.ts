import type { Redactor } from '../logging/redactor.js';
import type { SettingsCandidate } from './candidate-builder.js';
import { secretValues } from './redaction.js';

const OWNER = 'settings';
const PENDING_OWNER = 'pending settings';
const MAX_REMEMBERED = 1000;

/** Gives the redactor the secrets of every layer of the configuration before anything else can see them. */
export class SecretRegistrar {
  private remembered: readonly string[] = [];

  constructor(private readonly redactor: Redactor) {}

  /** Hides the secrets of a configuration that may take effect. */
  expect(candidate: SettingsCandidate): void {
    this.redactor.setFor(PENDING_OWNER, secretsOf(candidate));
  }

  /** Hides those of the one in force, and of the newest earlier ones too: running turns may still mention them. */
  register(candidate: SettingsCandidate): void {
    const inForce = new Set(secretsOf(candidate));
    const earlier = this.remembered.filter((secret) => !inForce.has(secret)).slice(-MAX_REMEMBERED);
    this.remembered = [...earlier, ...inForce];
    this.redactor.setFor(OWNER, this.remembered);
    this.redactor.setFor(PENDING_OWNER, []);
  }
}

function secretsOf({ settings, layers, overrides }: SettingsCandidate): readonly string[] {
  return [settings, ...[...layers, overrides].map(({ tree }) => tree)].flatMap(secretValues);
}
