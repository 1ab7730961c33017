import { Injectable } from '@nestjs/common';
import { RateLimited, Unavailable } from '../../common/errors/gateway-error.js';
import { Settings } from '../../platform/settings/settings.js';

/** The start of each body is not counted, so small bodies are served however much others send. */
const FREE_BYTES = 65_536;
/** How many bodies of the largest size one process has room for; one caller may use half of that. */
const MAX_LARGEST = 8;

/** The share of the room that one body takes while it arrives. */
export interface HeldBody {
  /**
   * Counts bytes that have arrived; a negative number takes back bytes that were not part of the body.
   * @returns whether the body takes up room by now
   * @throws RateLimited when the caller's share is used up, Unavailable when the room is full
   */
  add(bytes: number): boolean;
  /** Frees the room, once the body has been parsed or refused. */
  release(): void;
}

/**
 * Bounds the memory of all bodies that are not parsed yet. Without it, callers that send large bodies and never finish
 * them would exhaust it.
 */
@Injectable()
export class BodyRoom {
  private held = 0;
  private readonly byCaller = new Map<string, number>();

  constructor(private readonly settings: Settings) {}

  /** @param caller whose share is charged: a token's id or, without one, an address group */
  enter(caller: string): HeldBody {
    let arrived = 0;
    let counted = 0;
    return {
      add: (bytes) => {
        arrived += bytes;
        const more = Math.max(0, arrived - FREE_BYTES) - counted;
        if (more > 0) {
          this.take(caller, more);
          counted += more;
        }
        return counted > 0;
      },
      release: () => {
        this.count(caller, -counted);
        arrived = 0;
        counted = 0;
      },
    };
  }

  private take(caller: string, bytes: number): void {
    const { max_body_bytes: usual, max_message_body_bytes: message } = this.settings.current.gateway;
    const room = MAX_LARGEST * Math.max(usual, message);
    if ((this.byCaller.get(caller) ?? 0) + bytes > room / 2) {
      throw new RateLimited(
        'Bodies of this caller that are still arriving take all of its share of memory.',
        {
          retryAfterSecs: 1,
          details: { reason: 'api_token_bodies' },
        },
      );
    }
    if (this.held + bytes > room) {
      throw new Unavailable('There is no room for another large body right now.', {
        retryAfterSecs: 1,
        details: { reason: 'too_many_bodies' },
      });
    }
    this.count(caller, bytes);
  }

  private count(caller: string, by: number): void {
    this.held += by;
    const now = (this.byCaller.get(caller) ?? 0) + by;
    if (now === 0) this.byCaller.delete(caller);
    else this.byCaller.set(caller, now);
  }
}
