import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { RateLimited, Unavailable } from '../../common/errors/gateway-error.js';
import { outsideLogContext } from '../../platform/logging/log-context.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import { shareOfStreams, type TokenHolder } from '../../platform/tokens/token-shares.js';
import type { Viewer } from './viewer.js';

const SWEEP_MS = 250;
/** With the half second for which a token is known, and a sweep: a viewer whose token was revoked is cut within 1.5 s. */
const ASK_TOKEN_MS = 500;
/** Viewers come back at different moments, so that not all of them meet the next replica at once. */
const RETRY_MS = 1000;
const RETRY_SPREAD_MS = 2000;

interface Admitted {
  readonly mayView: () => Promise<boolean>;
  beatAt: number;
  askedAt: number;
}

/** The open viewers of this process: their number, their signs of life, and their end. */
@Injectable()
export class Viewers implements OnModuleDestroy {
  private readonly logger: Logger;
  private readonly viewers = new Map<Viewer, Admitted>();
  private readonly byToken = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('sessions::viewers');
  }

  get count(): number {
    return this.viewers.size;
  }

  /** Throws `Unavailable` (503) when there are too many, and `RateLimited` (429) when the token has its share of them. */
  refuseTooMany(caller: TokenHolder): void {
    const { streaming, limits } = this.settings.current;
    const most = streaming.max_viewers;
    if (this.viewers.size >= most) {
      throw new Unavailable(`There are ${most} open viewers of sessions, and no more are served here.`, {
        retryAfterSecs: 10,
        details: { reason: 'too_many_viewers' },
      });
    }
    const share = shareOfStreams(limits, caller, most);
    if ((this.byToken.get(caller.tokenId) ?? 0) < share) return;
    throw new RateLimited(
      `This API token has its share of ${share} open viewers of sessions here (limits.streams_per_api_token). Close one first.`,
      { retryAfterSecs: 10, details: { reason: 'api_token_streams' } },
    );
  }

  /** @param mayView whether its token would still be let in; asked twice a second */
  add(viewer: Viewer, { tokenId }: TokenHolder, mayView: () => Promise<boolean>): void {
    const now = performance.now();
    this.viewers.set(viewer, { mayView, beatAt: now, askedAt: now });
    this.tally(tokenId, 1);
    viewer.onEnd(() => {
      if (this.viewers.delete(viewer)) this.tally(tokenId, -1);
    });
    this.timer ??= outsideLogContext(() => setInterval(() => this.sweep(), SWEEP_MS).unref());
    // What it came for, it is shown first.
    if (this.ended) setImmediate(() => viewer.close(retryMs()));
  }

  /** Ends them all with a hint to come back, those that are shown a turn after it, and so whoever still comes. */
  endAll(): void {
    this.ended = true;
    for (const viewer of [...this.viewers.keys()]) viewer.close(retryMs());
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.ended = true;
    for (const viewer of [...this.viewers.keys()]) viewer.cut('stalled');
  }

  private tally(tokenId: string, by: 1 | -1): void {
    const now = (this.byToken.get(tokenId) ?? 0) + by;
    if (now === 0) this.byToken.delete(tokenId);
    else this.byToken.set(tokenId, now);
  }

  private sweep(): void {
    const { stall_ms: timeoutMs, ping_interval_ms: beatMs } = this.settings.current.streaming;
    const now = performance.now();
    for (const [viewer, admitted] of this.viewers) {
      if (viewer.stalledMs() > timeoutMs) {
        this.logger.warn('a viewer was cut: it takes nothing', { open_viewers: this.viewers.size });
        viewer.cut('stalled');
        continue;
      }
      if (now - admitted.beatAt > beatMs) {
        admitted.beatAt = now;
        viewer.heartbeat();
      }
      if (now - admitted.askedAt > ASK_TOKEN_MS) {
        admitted.askedAt = now;
        void cutWhenForbidden(viewer, admitted.mayView);
      }
    }
  }
}

/** While nobody can be asked, the viewer stays; there is nothing new to see then. */
async function cutWhenForbidden(viewer: Viewer, mayView: () => Promise<boolean>): Promise<void> {
  if (!(await mayView().catch(() => true))) viewer.cut('forbidden');
}

function retryMs(): number {
  return Math.round(RETRY_MS + Math.random() * RETRY_SPREAD_MS);
}
