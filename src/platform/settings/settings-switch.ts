import type { Logger } from '../logging/logger.js';
import { SerialQueue } from '../runtime/serial-queue.js';
import type { SettingsCandidate } from './candidate-builder.js';
import {
  changedKeys,
  type LiveSettings,
  livableSettings,
  type SettingsSnapshot,
  snapshotOf,
} from './live-settings.js';
import type { SecretRegistrar } from './redaction.js';
import { warnOfOverruled } from './replica-keys.js';
import type { SettingsSubscribers } from './settings-subscribers.js';

const MAX_WAITING = 64;
const MAX_LOGGED = 20;

/** A change that every subscriber is ready for. Call `commit` or `rollBack`, once. */
export interface ReadyChange {
  readonly snapshot: SettingsSnapshot;
  /** The snapshot that `commit` will publish under this revision. */
  published(revision: string): SettingsSnapshot;
  /** Publishes it under the revision it was stored with. */
  commit(revision: string): void;
  rollBack(): void;
}

/** The last step of every change: all subscribers prepare, then all switch at once, or none does. */
export class SettingsSwitch {
  private readonly queue = new SerialQueue(MAX_WAITING);

  constructor(
    readonly live: LiveSettings,
    private readonly subscribers: SettingsSubscribers,
    private readonly secrets: SecretRegistrar,
    private readonly logger: Logger,
  ) {}

  /** Runs one change at a time in this process. */
  exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.queue.run(work);
  }

  /** Throws what a subscriber throws; nothing has changed then. */
  async prepare(candidate: SettingsCandidate): Promise<ReadyChange> {
    this.secrets.expect(candidate);
    const before = this.live.current;
    const current = livableSettings(candidate.settings, before);
    const keys = changedKeys(before, current);
    const prepared = await this.subscribers.prepare({ before, after: current, keys });
    const published = (revision: string) =>
      snapshotOf({ ...candidate, stored: { ...candidate.stored, revision } }, current);
    return {
      snapshot: snapshotOf(candidate, current),
      published,
      rollBack: () => prepared.rollBack(),
      commit: (revision) => {
        this.publish(published(revision));
        prepared.commit();
      },
    };
  }

  private publish(snapshot: SettingsSnapshot): void {
    const old = this.live.snapshot;
    this.live.publish(snapshot);
    this.secrets.register(snapshot);
    const keys = changedKeys(old.settings, snapshot.settings);
    if (keys.length > 0) {
      const shown = { keys: keys.slice(0, MAX_LOGGED), changed: keys.length };
      this.logger.info('the configuration changed', { ...shown, revision: snapshot.stored.revision });
    }
    warnOfIgnored(this.logger, snapshot, old);
    warnOfOverruled(this.logger, snapshot, old);
  }
}

/** Warns of each stored override that is ignored, unless it was ignored before. */
export function warnOfIgnored(logger: Logger, now: SettingsCandidate, before?: SettingsCandidate): void {
  for (const [key, { message }] of now.ignored) {
    if (before?.ignored.has(key)) continue;
    logger.warn('a stored configuration override no longer fits and is ignored', {
      key,
      message,
    });
  }
}
