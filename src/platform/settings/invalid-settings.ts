import { BadRequest } from '../../common/errors/gateway-error.js';
import type { LayerName } from './settings-layer.js';

/** One thing that is wrong. No part of it repeats a value: any value may be a misplaced secret. */
export interface SettingsProblem {
  /** `gateway.toml:12`, or the name of the environment variable. */
  readonly where: string;
  /** The dotted key; empty when the problem has none, such as a file that is not TOML. */
  readonly key: string;
  /** What is wrong and what is allowed. */
  readonly message: string;
  /** The layer that sets the key, when one does. */
  readonly layer?: LayerName;
}

/** Problems past this number are only counted. */
const MAX_LISTED = 100;

/** Everything that is wrong with the configuration, at once: stops a start, and answers a change with 400. */
export class InvalidSettings extends BadRequest {
  constructor(readonly problems: readonly SettingsProblem[]) {
    super(summary(problems), {
      details: {
        reason: 'invalid_settings',
        fields: problems
          .slice(0, MAX_LISTED)
          .map(({ where, key, message }) => ({ path: key || where, message })),
      },
    });
  }
}

function summary(problems: readonly SettingsProblem[]): string {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  const lines = problems.slice(0, MAX_LISTED).map(line);
  if (problems.length > MAX_LISTED) lines.push(`  and ${problems.length - MAX_LISTED} more`);
  return [`The configuration has ${count}:`, ...lines].join('\n');
}

function line({ where, key, message }: SettingsProblem): string {
  return `  ${[where, key, message].filter((part) => part !== '').join(': ')}`;
}
