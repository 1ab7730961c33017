import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { RateLimited, Unavailable } from '../../common/errors/gateway-error.js';
import { outsideLogContext } from '../../platform/logging/log-context.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import { shareOfStreams, type TokenHolder } from '../../platform/tokens/token-shares.js';
import type { Viewer } from './viewer.js';

const SWEEP_MS = 250;
/** Together with the token cache (0.5 s) and a sweep: a viewer whose token was revoked is cut within 1.5 s. */
const ASK_TOKEN_MS = 500;
/** Viewers come back at different moments, so that they do not all reach the next replica at once. */
const RETRY_MS = 1000;
const RETRY_SPREAD_MS = 2000;

interface Admitted {
  readonly mayView: () => Promise<boolean>;
  beatAt: number;
  askedAt: number;
}

/** The open viewers of this process: bounds their number, keeps them alive, and ends them. */
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

  /** Throws `Unavailable` (503) when there are too many, and `RateLimited` (429) when the token has used its share. */
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

  /** @param mayView whether its token may still view; asked twice a second */
  add(viewer: Viewer, { tokenId }: TokenHolder, mayView: () => Promise<boolean>): void {
    const now = performance.now();
    this.viewers.set(viewer, { mayView, beatAt: now, askedAt: now });
    this.tally(tokenId, 1);
    viewer.onEnd(() => {
      if (this.viewers.delete(viewer)) this.tally(tokenId, -1);
    });
    this.timer ??= outsideLogContext(() => setInterval(() => this.sweep(), SWEEP_MS).unref());
    // The viewer is shown what it came for first.
    if (this.ended) setImmediate(() => viewer.close(retryMs()));
  }

  /** Ends all viewers, and every one that still arrives, with a hint to come back; those that follow a turn here see its end first. */
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
        this.logger.warn('a viewer was disconnected: it stopped reading', {
          open_viewers: this.viewers.size,
        });
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

/** If the token cannot be checked, the viewer stays: without the database there is nothing new to see. */
async function cutWhenForbidden(viewer: Viewer, mayView: () => Promise<boolean>): Promise<void> {
  if (!(await mayView().catch(() => true))) viewer.cut('forbidden');
}

function retryMs(): number {
  return Math.round(RETRY_MS + Math.random() * RETRY_SPREAD_MS);
}
