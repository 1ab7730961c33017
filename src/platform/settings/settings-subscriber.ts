import { isWithin } from './dotted-path.js';
import type { GatewaySettings } from './settings.schema.js';

/** A change that is about to happen: the settings in force before and after it, and the keys that differ. */
export interface SettingsChange {
  readonly before: GatewaySettings;
  readonly after: GatewaySettings;
  /** Dotted keys, without those that wait for a restart. */
  readonly keys: readonly string[];
}

/** What a subscriber prepared. Exactly one of the two is called, once. Both are synchronous and must not throw. */
export interface PreparedChange {
  /** Switches over, at the same time as `Settings.current` and all other subscribers. */
  commit(): void;
  /** Discards what was prepared; the old settings stay. */
  rollBack?(): void;
}

/**
 * A part of the gateway that has to act on a change of the configuration, beyond reading `Settings.current` at each
 * use. `prepare` does everything that can fail or take time without touching what runs. If it throws, nothing changes
 * anywhere: `InvalidSettings` is the caller's mistake (400), anything else the gateway's. It has five seconds.
 */
export interface SettingsSubscriber {
  /** For the log. */
  readonly name: string;
  /** @returns `undefined` when the change does not concern it */
  prepare(change: SettingsChange, signal: AbortSignal): Promise<PreparedChange | undefined>;
}

/** Whether a change touches a key, or anything below a section such as `provider`. */
export function touches(change: SettingsChange, prefix: string): boolean {
  return change.keys.some((key) => isWithin(key, prefix));
}
