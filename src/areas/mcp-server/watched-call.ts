import { Unauthorized } from '../../common/errors/gateway-error.js';
import type { CutReason, Traffic } from '../../platform/runtime/event-stream.js';
import { Viewer } from '../live/live.api.js';
import { CallerGone } from './failed-call.js';

/** The call of a tool that no turn makes, counted and cut like a viewer of turns. */
export class WatchedCall extends Viewer {
  readonly isFull = false;
  private readonly cutting = new AbortController();

  /** Aborted when the caller may no longer have the call made. */
  get signal(): AbortSignal {
    return this.cutting.signal;
  }

  write(): void {
    // It follows no turn.
  }

  heartbeat(): void {
    // Who answers keeps the connection alive.
  }

  cut(why: CutReason): void {
    this.cutting.abort(why === 'forbidden' ? tokenEnded() : new CallerGone());
    this.end();
  }

  protected traffic(): Traffic {
    return { sent: 0, pending: 0 };
  }

  protected sendClose(): void {
    // No other replica can go on with it: it has the time that requests have when the gateway stops.
  }

  protected turnIsOver(): void {
    // It follows no turn.
  }
}

export function tokenEnded(): Unauthorized {
  return new Unauthorized('The access token ended, and the call with it. Sign in anew, then call again.');
}
