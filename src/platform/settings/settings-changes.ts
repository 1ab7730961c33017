import { stackOf } from '../../common/errors/error-text.js';
import { Unavailable } from '../../common/errors/gateway-error.js';
import { outsideLogContext } from '../logging/log-context.js';
import type { Logger } from '../logging/logger.js';
import { withDeadline } from '../runtime/with-deadline.js';
import { anyWithin } from './dotted-path.js';
import type { GatewaySettings } from './settings.schema.js';

/** The settings in force before and after a change, and the keys that differ. */
export interface SettingsChange {
  readonly before: GatewaySettings;
  readonly after: GatewaySettings;
  /** Dotted keys, without those that wait for a restart. */
  readonly keys: readonly string[];
}

/** Reacts to a change. It is synchronous; what takes time continues in the background. */
export type SettingsListener = (change: SettingsChange) => void;

/**
 * Work that a change needs before it can take effect, and that can fail. Code that only reacts to changes is a listener
 * instead.
 */
export interface SettingsStep {
  /** For the log. */
  readonly name: string;
  /** The keys and sections that it depends on. */
  readonly keys: readonly string[];
  /**
   * Prepares everything new, and changes nothing that runs. When it rejects, nothing changes anywhere:
   * `InvalidSettings` is the caller's mistake (400), anything else the gateway's. It has five seconds.
   * @returns a function that puts it in force together with `Settings.current`; synchronous, and must not throw
   */
  prepare(change: SettingsChange): Promise<() => void>;
}

const MAX_PREPARATION_MS = 5000;

/**
 * Tells the parts of the gateway about changes of the configuration, for those that cannot just read `Settings.current`
 * at each use.
 */
export class SettingsChanges {
  private readonly steps: SettingsStep[] = [];
  private readonly listeners = new Set<{ keys: readonly string[]; listener: SettingsListener }>();

  constructor(
    private readonly logger: Logger,
    private readonly maxMs = MAX_PREPARATION_MS,
  ) {}

  /**
   * Calls the listener once for each change of one of these keys, or of a key below one, right after the change.
   * @returns a function that removes the listener
   */
  listen(keys: readonly string[], listener: SettingsListener): () => void {
    const one = { keys, listener };
    this.listeners.add(one);
    return () => void this.listeners.delete(one);
  }

  /** Changes that concern this step wait for it, and fail with it. */
  prepareWith(step: SettingsStep): void {
    this.steps.push(step);
  }

  /**
   * Runs the steps that the change concerns, all at once.
   * @returns a function that puts them in force and calls the listeners
   */
  async prepare(change: SettingsChange): Promise<() => void> {
    const steps = this.steps.filter(({ keys }) => anyWithin(change.keys, keys));
    const prepared = await Promise.all(steps.map((step) => this.withinLimit(step, change)));
    return () => {
      const concerned = [...this.listeners].filter(({ keys }) => anyWithin(change.keys, keys));
      // What a listener starts may run for long, and its log lines must not carry the request that changed a setting.
      outsideLogContext(() => {
        for (const putInForce of prepared) this.guarded(putInForce);
        for (const { listener } of concerned) this.guarded(() => listener(change));
      });
    };
  }

  private withinLimit(step: SettingsStep, change: SettingsChange): Promise<() => void> {
    return withDeadline(step.prepare(change), this.maxMs, () => {
      throw new TooSlow(step.name);
    });
  }

  /** When one listener fails, the others must still get the new settings. */
  private guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.logger.error('a part of the gateway failed to apply a configuration change', {
        error: stackOf(error),
      });
    }
  }
}

class TooSlow extends Unavailable {
  constructor(name: string) {
    super(`The configuration was not changed: "${name}" was not ready in time.`, {
      retryAfterSecs: 5,
      details: { reason: 'not_prepared_in_time' },
    });
  }
}
