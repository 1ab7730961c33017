import { stackOf } from '../../common/errors/error-text.js';
import { Unavailable } from '../../common/errors/gateway-error.js';
import { outsideLogContext } from '../logging/log-context.js';
import type { Logger } from '../logging/logger.js';
import { withDeadline } from '../runtime/with-deadline.js';
import { isWithin } from './dotted-path.js';
import type { GatewaySettings } from './settings.schema.js';

/** The settings in force before and after a change, and the keys that differ. */
export interface SettingsChange {
  readonly before: GatewaySettings;
  readonly after: GatewaySettings;
  /** Dotted keys, without those that wait for a restart. */
  readonly keys: readonly string[];
}

/** Follows a change. It is synchronous; what takes time goes on in the background. */
export type SettingsListener = (change: SettingsChange) => void;

/** What a change needs before it can be in force, and what may turn out to be impossible. Whoever only follows a change listens. */
export interface SettingsStep {
  /** For the log. */
  readonly name: string;
  /** The keys and sections that concern it. */
  readonly keys: readonly string[];
  /**
   * Makes everything new, and touches nothing that runs. When it rejects, nothing changes anywhere: `InvalidSettings` is
   * the caller's mistake (400), anything else the gateway's. It has five seconds.
   * @returns what puts it in force at the same moment as `Settings.current`; synchronous, must not throw
   */
  prepare(change: SettingsChange): Promise<() => void>;
}

const MAX_PREPARATION_MS = 5000;

/** How the parts of the gateway learn of changes of the configuration, beyond reading `Settings.current` at each use. */
export class SettingsChanges {
  private readonly steps: SettingsStep[] = [];
  private readonly listeners = new Set<{ keys: readonly string[]; listener: SettingsListener }>();

  constructor(
    private readonly logger: Logger,
    private readonly maxMs = MAX_PREPARATION_MS,
  ) {}

  /**
   * Calls the listener once for each change of one of these keys or of a key below it, right after the change.
   * @returns a function that ends it
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

  /** Runs the steps that the change concerns, at once. @returns what puts them in force and tells the listeners */
  async prepare(change: SettingsChange): Promise<() => void> {
    const steps = this.steps.filter(({ keys }) => touches(change, keys));
    const prepared = await Promise.all(steps.map((step) => this.withinLimit(step, change)));
    return () => {
      const concerned = [...this.listeners].filter(({ keys }) => touches(change, keys));
      const all = [
        ...prepared,
        ...concerned.map(
          ({ listener }) =>
            () =>
              listener(change),
        ),
      ];
      // What a listener starts may run for long; its log lines must not carry the request that changed a setting.
      outsideLogContext(() => {
        for (const one of all) this.guarded(one);
      });
    };
  }

  private withinLimit(step: SettingsStep, change: SettingsChange): Promise<() => void> {
    return withDeadline(step.prepare(change), this.maxMs, () => {
      throw new TooSlow(step.name);
    });
  }

  /** One failure must not leave the others on the old settings. */
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

function touches(change: SettingsChange, keys: readonly string[]): boolean {
  return change.keys.some((key) => keys.some((asked) => isWithin(key, asked)));
}

class TooSlow extends Unavailable {
  constructor(name: string) {
    super(`The configuration was not changed: "${name}" was not ready in time.`, {
      retryAfterSecs: 5,
      details: { reason: 'not_prepared_in_time' },
    });
  }
}
