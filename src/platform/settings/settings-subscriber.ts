import { isWithin } from './dotted-path.js';
import type { GatewaySettings } from './settings.schema.js';

/** A change that is about to happen: the settings as they are lived by, before and after, and the keys that differ. */
export interface SettingsChange {
  readonly before: GatewaySettings;
  readonly after: GatewaySettings;
  /** Dotted keys. Keys that wait for a restart are not among them. */
  readonly keys: readonly string[];
}

/** What a subscriber made ready. Exactly one of the two is called, once. Neither may throw, neither waits. */
export interface PreparedChange {
  /** Switches over, in the same instant as `Settings.current` and all other subscribers. */
  commit(): void;
  /** Throws away what was made; the old settings stay. */
  rollBack?(): void;
}

/**
 * An area that has to do something when the configuration changes, beyond reading `Settings.current` at each use.
 * `prepare` makes everything that can fail or takes time, and leaves what runs alone. When it throws, nothing changes
 * anywhere: an `InvalidSettings` is the caller's mistake (400), anything else the gateway's. It has five seconds.
 */
export interface SettingsSubscriber {
  /** For the log. */
  readonly name: string;
  /** `undefined` when the change is none of its business. */
  prepare(change: SettingsChange, signal: AbortSignal): Promise<PreparedChange | undefined>;
}

/** Whether a change touches a key, or anything below a section such as `provider`. */
export function touches(change: SettingsChange, prefix: string): boolean {
  return change.keys.some((key) => isWithin(key, prefix));
}
