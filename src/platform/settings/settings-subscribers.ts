import { stackOf } from '../../common/errors/error-text.js';
import { Unavailable } from '../../common/errors/gateway-error.js';
import { outsideLogContext } from '../logging/log-context.js';
import type { Logger, Logs } from '../logging/logger.js';
import { withDeadline } from '../runtime/with-deadline.js';
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

const MAX_PREPARATION_MS = 5000;

/** The parts of the gateway that act on changes of the configuration. */
export class SettingsSubscribers {
  private readonly subscribers = new Set<SettingsSubscriber>();

  constructor(
    private readonly logger: Logger,
    private readonly maxMs = MAX_PREPARATION_MS,
  ) {}

  /** @returns a function that ends the subscription */
  add(subscriber: SettingsSubscriber): () => void {
    this.subscribers.add(subscriber);
    return () => void this.subscribers.delete(subscriber);
  }

  /**
   * Lets all subscribers prepare, concurrently. Throws the first failure after rolling back those that were ready; a
   * late one is rolled back when it gets ready.
   */
  async prepare(change: SettingsChange): Promise<Required<PreparedChange>> {
    const abort = new AbortController();
    const results = await Promise.allSettled(
      [...this.subscribers].map((subscriber) => this.prepareOne(subscriber, change, abort)),
    );
    const prepared = results.flatMap((result) => (result.status === 'fulfilled' ? (result.value ?? []) : []));
    const all = {
      // What a commit starts may run for long; its log lines must not carry the request that changed a setting.
      commit: () => outsideLogContext(() => this.each(prepared, (one) => one.commit())),
      rollBack: () => this.each(prepared, (one) => one.rollBack?.()),
    };
    const failed = results.find((result) => result.status === 'rejected');
    if (failed === undefined) return all;
    all.rollBack();
    throw failed.reason;
  }

  private async prepareOne(
    subscriber: SettingsSubscriber,
    change: SettingsChange,
    abort: AbortController,
  ): Promise<PreparedChange | undefined> {
    const preparing = subscriber.prepare(change, abort.signal);
    try {
      return await withDeadline(preparing, this.maxMs, () => {
        throw new TooSlow(subscriber.name);
      });
    } catch (error) {
      abort.abort(error);
      preparing.then(
        (prepared) => prepared?.rollBack?.(),
        () => undefined,
      );
      throw error;
    }
  }

  /** One failure must not leave the others on the old settings. */
  private each(prepared: readonly PreparedChange[], work: (one: PreparedChange) => void): void {
    for (const one of prepared) {
      try {
        work(one);
      } catch (error) {
        this.logger.error('a part of the gateway failed to apply a configuration change', {
          error: stackOf(error),
        });
      }
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

/** `logging.level` takes effect with the next line. */
export class LogLevelSetting implements SettingsSubscriber {
  readonly name = 'logging';

  constructor(private readonly logs: Logs) {}

  async prepare(change: SettingsChange): Promise<PreparedChange | undefined> {
    if (!touches(change, 'logging.level')) return undefined;
    return { commit: () => this.logs.setLevel(change.after.logging.level) };
  }
}
