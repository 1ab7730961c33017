import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import { OpenStreams } from '../../platform/tokens/open-streams.js';
import type { TakenLimit } from '../../platform/tokens/taken-limit.js';
import type { TokenHolder } from '../../platform/tokens/token-shares.js';
import type { Viewer } from './viewer.js';

/** The open viewers of this process. */
@Injectable()
export class Viewers implements OnModuleDestroy {
  private readonly open: OpenStreams<Viewer>;

  constructor(settings: Settings, logs: Logs) {
    const logger = logs.for('sessions::viewers');
    this.open = new OpenStreams({
      name: 'viewers of sessions',
      reason: 'too_many_viewers',
      advice: 'Raise streaming.max_viewers, or add replicas.',
      logger,
      terms: () => {
        const { streaming, limits } = settings.current;
        const { max_viewers: most, stall_ms: stallMs, ping_interval_ms: beatMs } = streaming;
        return { most, stallMs, beatMs, limits };
      },
      stalled: (open) => logger.warn('a viewer was disconnected: it stopped reading', { open_viewers: open }),
    });
  }

  get count(): number {
    return this.open.count;
  }

  limits(): TakenLimit[] {
    return this.open.limits();
  }

  /** Throws `Unavailable` (503) when there are too many, and `RateLimited` (429) when the token has used its share. */
  refuseTooMany(caller: TokenHolder): void {
    this.open.refuseTooMany(caller);
  }

  /** @param mayView whether its token may still view; asked twice a second */
  add(viewer: Viewer, caller: TokenHolder, mayView: () => Promise<boolean>): void {
    this.open.take(caller).keep(viewer, mayView);
  }

  /** Ends all viewers, and every one that still arrives, with a hint to come back; those that follow a turn here see its end first. */
  endAll(): void {
    this.open.endAll();
  }

  onModuleDestroy(): void {
    this.open.stop();
  }
}
