import { Injectable } from '@nestjs/common';
import type { HeldBytes } from '../../common/bytes/held-bytes.js';
import { BadRequest, NoRoom, RateLimited } from '../../common/errors/gateway-error.js';
import { Settings } from '../../platform/settings/settings.js';

/** The start of each body is not counted, so small bodies are served however much others send. */
const FREE_BYTES = 65_536;
/** How many bodies of the largest size one process has room for; one caller may use half of that. */
const MAX_LARGEST = 8;

/** Callers without a token together may use a quarter, and one of them half of that. */
const STRANGERS = 'strangers';

interface Share {
  /** Who is charged; `part` is how much of the room each may use. */
  readonly holders: readonly { readonly name: string; readonly part: number }[];
}

/**
 * Bounds the memory of all bodies, from their first byte until their responses (those of Teams' connector until they are
 * parsed), and of messages until their turns are over. Without it, callers that send large bodies and never finish them, or that begin many large turns, would exhaust it.
 */
@Injectable()
export class BodyRoom {
  private held = 0;
  private readonly byHolder = new Map<string, number>();

  constructor(private readonly settings: Settings) {}

  /** @param holder a token together with those that replace it, or a verified connector: it may use half of the room */
  enter(holder: string): HeldBytes {
    return this.open({ holders: [{ name: `token:${holder}`, part: 1 / 2 }] });
  }

  /** For callers without a token. @param group of addresses */
  enterStranger(group: string): HeldBytes {
    const holders = [
      { name: `stranger:${group}`, part: 1 / 8 },
      { name: STRANGERS, part: 1 / 4 },
    ];
    return this.open({ holders });
  }

  private open(share: Share): HeldBytes {
    let arrived = 0;
    let counted = 0;
    let isOver = false;
    return {
      add: (bytes) => {
        if (isOver) throw new BadRequest('The connection ended before its request was handled.');
        arrived = Math.max(0, arrived + bytes);
        const more = Math.max(0, arrived - FREE_BYTES) - counted;
        if (more > 0) {
          this.take(share, more);
          counted += more;
        }
        return counted > 0;
      },
      release: () => {
        this.count(share, -counted);
        counted = 0;
        isOver = true;
      },
    };
  }

  private take(share: Share, bytes: number): void {
    const { max_body_bytes: usual, max_message_body_bytes: message } = this.settings.current.gateway;
    const room = MAX_LARGEST * Math.max(usual, message);
    const full = share.holders.find(({ name, part }) => (this.byHolder.get(name) ?? 0) + bytes > room * part);
    if (full !== undefined && full.name !== STRANGERS) {
      throw new RateLimited(
        'Bodies of this caller that are arriving, or whose requests and turns are not over, take all of its share of memory. Send this again when one of them is over.',
        {
          retryAfterSecs: 1,
          details: { reason: 'api_token_bodies' },
        },
      );
    }
    if (full !== undefined || this.held + bytes > room) {
      throw new NoRoom('There is no room for another large body right now. Send it again in a moment.', {
        retryAfterSecs: 1,
        details: { reason: 'too_many_bodies' },
      });
    }
    this.count(share, bytes);
  }

  private count({ holders }: Share, by: number): void {
    this.held += by;
    for (const { name } of holders) {
      const now = (this.byHolder.get(name) ?? 0) + by;
      if (now === 0) this.byHolder.delete(name);
      else this.byHolder.set(name, now);
    }
  }
}
