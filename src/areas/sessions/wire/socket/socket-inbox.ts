import { Conflict, type GatewayError } from '../../../../common/errors/gateway-error.js';
import { rateLimited } from '../../../../http/guards/rate-charge.js';
import type { RateDecision } from '../../../../platform/rate-limits/rate-limiter.port.js';
import type { SocketViewer } from './socket-viewer.js';

/** Messages of one WebSocket that may wait for their turn to begin. */
const MAX_IN_FLIGHT = 16;
/** When this many frames wait for the shared rate limiter, reading pauses; frames that were read before still arrive. */
const MANY_CHARGING = 64;
const MAX_CHARGING = 1024;
/** A connection with more refused frames than this within a second is closed. */
const MAX_REFUSED = 100;
const REFUSED_WITHIN_MS = 1000;

export interface InboxRules {
  /** Charges one frame to the token's rate limit. */
  charge(): RateDecision | Promise<RateDecision>;
  /** Does what a frame says; only called for frames within the limit. */
  read(data: Buffer, isBinary: boolean): Promise<void>;
  errorOf(thrown: unknown): GatewayError;
}

/**
 * The frames that arrive over one WebSocket. Each is charged before it is looked at: messages, pings and unsolicited pongs.
 * A refused frame is answered, up to a bound within a second; beyond it the connection is closed.
 */
export class SocketInbox {
  private inFlight = 0;
  private charging = 0;
  private refused = 0;
  private refusedSince = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly viewer: SocketViewer,
    private readonly rules: InboxRules,
  ) {}

  message(data: Buffer, isBinary: boolean): void {
    this.charged(() => this.read(data, isBinary));
  }

  ping(data: Buffer): void {
    this.charged(() => this.viewer.pong(data));
  }

  pong(): void {
    if (!this.viewer.beat()) this.charged(() => undefined);
  }

  private charged(act: () => void): void {
    if (!this.viewer.isOpen) return;
    if (this.charging >= MAX_CHARGING) {
      this.refuse(tooMany());
      return;
    }
    const decision = this.rules.charge();
    if (!(decision instanceof Promise)) {
      this.decided(decision, act);
      return;
    }
    this.charging += 1;
    if (this.charging === MANY_CHARGING) this.viewer.readNoMore();
    decision
      .then((taken) => this.decided(taken, act))
      .catch((thrown: unknown) => this.viewer.reply(this.rules.errorOf(thrown)))
      .finally(() => {
        this.charging -= 1;
        if (this.charging < MANY_CHARGING) this.viewer.readOn();
      });
  }

  private decided(decision: RateDecision, act: () => void): void {
    if (!this.viewer.isOpen) return;
    if (decision.allowed) act();
    else this.refuse(rateLimited(decision));
  }

  private refuse(error: GatewayError): void {
    const now = performance.now();
    if (now - this.refusedSince > REFUSED_WITHIN_MS) {
      this.refusedSince = now;
      this.refused = 0;
    }
    this.refused += 1;
    if (this.refused > MAX_REFUSED) this.viewer.refuseFlood();
    else this.viewer.reply(error);
  }

  private read(data: Buffer, isBinary: boolean): void {
    if (this.inFlight >= MAX_IN_FLIGHT) {
      this.viewer.reply(tooMany());
      return;
    }
    this.inFlight += 1;
    this.rules
      .read(data, isBinary)
      .catch((thrown: unknown) => this.viewer.reply(this.rules.errorOf(thrown)))
      .finally(() => {
        this.inFlight -= 1;
      });
  }
}

function tooMany(): Conflict {
  return new Conflict('Too many messages of this connection wait.', { retryAfterSecs: 1 });
}
