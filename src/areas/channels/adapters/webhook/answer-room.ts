import { Injectable } from '@nestjs/common';
import { RateLimited, Unavailable } from '../../../../common/errors/gateway-error.js';
import { signalWithin } from '../../../../platform/runtime/signal-within.js';
import { Slots } from '../../../../platform/runtime/slots.js';

/** Answers with files that are in memory at once. */
const MAX_HELD = 8;
/** Of one channel, so that callers of one which read slowly keep those of no other waiting. */
const MAX_OF_CHANNEL = MAX_HELD / 2;
const MAX_WAIT_MS = 10_000;
const RETRY_AFTER_SECS = 5;

/** Bounds the memory of answers with files: each takes tens of megabytes until its caller has read it. */
@Injectable()
export class AnswerRoom {
  private readonly slots = new Slots(MAX_HELD);
  /** By channel. */
  private readonly shares = new Map<string, Slots>();

  /**
   * Waits until there is room, which is free again once the response is closed.
   * Throws `RateLimited` when answers of the same channel take its share for too long, and `Unavailable` when all do.
   */
  async enter(channel: string, closed: AbortSignal): Promise<void> {
    const share = this.shares.get(channel) ?? new Slots(MAX_OF_CHANNEL);
    this.shares.set(channel, share);
    const patience = signalWithin(MAX_WAIT_MS, closed);
    const leaveShare = await share.take(patience).catch(() => {
      throw new RateLimited(
        'Answers with files that callers of this channel have not read yet take all of its room. Read them, and post the same message again.',
        { retryAfterSecs: RETRY_AFTER_SECS, details: { reason: 'channel_answers' } },
      );
    });
    const leaveAll = await this.slots.take(patience).catch(() => {
      leaveShare();
      throw noRoom();
    });
    const leave = (): void => {
      leaveAll();
      leaveShare();
    };
    closed.addEventListener('abort', leave, { once: true });
    if (!closed.aborted) return;
    leave();
    throw noRoom();
  }
}

function noRoom(): Unavailable {
  return new Unavailable(
    'There is no room for another answer with files right now. Post the same message again: its answer is kept.',
    { retryAfterSecs: RETRY_AFTER_SECS, details: { reason: 'too_many_answers' } },
  );
}
