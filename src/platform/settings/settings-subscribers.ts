import { Unavailable } from '../../common/errors/gateway-error.js';
import { stackOf } from '../../common/errors/stack-of.js';
import { outsideLogContext } from '../logging/log-context.js';
import type { Logger } from '../logging/logger.js';
import type { PreparedChange, SettingsChange, SettingsSubscriber } from './settings-subscriber.js';

const MAX_PREPARATION_MS = 5000;

/** Everyone who has to do something when the configuration changes. */
export class SettingsSubscribers {
  private readonly subscribers = new Set<SettingsSubscriber>();

  constructor(
    private readonly logger: Logger,
    private readonly longestMs = MAX_PREPARATION_MS,
  ) {}

  /** @returns what ends the subscription */
  add(subscriber: SettingsSubscriber): () => void {
    this.subscribers.add(subscriber);
    return () => void this.subscribers.delete(subscriber);
  }

  /**
   * Lets all prepare, side by side. Throws the first failure, after those that were ready have been rolled back; one
   * that is late is rolled back when it comes.
   */
  async prepare(change: SettingsChange): Promise<Required<PreparedChange>> {
    const abort = new AbortController();
    const results = await Promise.allSettled(
      [...this.subscribers].map((subscriber) => this.prepareOne(subscriber, change, abort)),
    );
    const prepared = results.flatMap((result) => (result.status === 'fulfilled' ? (result.value ?? []) : []));
    const all = {
      // What is started then goes on for long, and does not speak for the request that changed a setting.
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
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new TooSlow(subscriber.name)), this.longestMs);
    });
    try {
      return await Promise.race([preparing, late]);
    } catch (error) {
      abort.abort(error);
      preparing.then(
        (prepared) => prepared?.rollBack?.(),
        () => undefined,
      );
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Half of them on the new settings would be worse than one that failed to say goodbye. */
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
