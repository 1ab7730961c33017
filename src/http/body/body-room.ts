import { Injectable } from '@nestjs/common';
import { RateLimited, Unavailable } from '../../common/errors/gateway-error.js';
import { Settings } from '../../platform/settings/settings.js';

/** The beginning of each body, which is not counted: whoever sends little is served however much others send. */
const FREE_BYTES = 65_536;
/** The largest bodies that have room in one process; one caller has half of it. */
const MAX_LARGEST = 8;

/** What one body takes of the room while it arrives. */
export interface HeldBody {
  /**
   * Counts bytes that have arrived; a negative number takes back what was no part of it. Throws `RateLimited` when the
   * caller has its share, `Unavailable` when there is no room.
   * @returns whether it takes room by now
   */
  add(bytes: number): boolean;
  /** Gives all of it back; once it was parsed or refused. */
  release(): void;
}

/**
 * The memory that bodies may take together until they are parsed. Without a bound, callers that send large ones and never
 * finish them would take all there is.
 */
@Injectable()
export class BodyRoom {
  private held = 0;
  private readonly byCaller = new Map<string, number>();

  constructor(private readonly settings: Settings) {}

  /** @param caller whose share it is: a token's id, or the address group of a stranger */
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
