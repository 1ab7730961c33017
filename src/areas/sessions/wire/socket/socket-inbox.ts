import type { HeldBytes } from '../../../../common/bytes/held-bytes.js';
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

interface BegunTurn {
  /** Settles when it is over. */
  readonly answer: Promise<unknown>;
}

export interface ArrivedFrame {
  readonly data: Buffer;
  readonly isBinary: boolean;
  /** The memory that it takes; undefined for sockets that send small frames only. */
  readonly held: HeldBytes | undefined;
}

export interface InboxRules {
  /** Charges one frame to the token's rate limit. */
  charge(): RateDecision | Promise<RateDecision>;
  /**
   * Does what a frame says; only called for frames within the limit.
   * @returns the turn that it began, which needs the frame's memory until its answer
   */
  read(frame: ArrivedFrame): Promise<BegunTurn | undefined>;
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

  /** Frees the frame's memory once it is refused or done, with the turn that it began. */
  message(frame: ArrivedFrame): void {
    releaseAfter(
      this.charged(() => this.read(frame)),
      frame.held,
    );
  }

  ping(data: Buffer): void {
    void this.charged(() => {
      this.viewer.pong(data);
      return undefined;
    });
  }

  pong(): void {
    if (!this.viewer.beat()) void this.charged(() => undefined);
  }

  /** @returns when it is over; undefined if it is already. Never rejects. */
  private charged(
    act: () => Promise<BegunTurn | undefined> | undefined,
  ): Promise<BegunTurn | undefined> | undefined {
    if (!this.viewer.isOpen) return undefined;
    if (this.charging >= MAX_CHARGING) {
      this.refuse(tooMany());
      return undefined;
    }
    const decision = this.rules.charge();
    if (!(decision instanceof Promise)) return this.decided(decision, act);
    this.charging += 1;
    if (this.charging === MANY_CHARGING) this.viewer.readNoMore();
    return decision
      .finally(() => {
        this.charging -= 1;
        if (this.charging < MANY_CHARGING) this.viewer.readOn();
      })
      .then((taken) => this.decided(taken, act))
      .catch((thrown: unknown) => this.failed(thrown));
  }

  private decided(
    decision: RateDecision,
    act: () => Promise<BegunTurn | undefined> | undefined,
  ): Promise<BegunTurn | undefined> | undefined {
    if (!this.viewer.isOpen) return undefined;
    if (decision.allowed) return act();
    this.refuse(rateLimited(decision));
    return undefined;
  }

  private failed(thrown: unknown): undefined {
    this.viewer.reply(this.rules.errorOf(thrown));
    return undefined;
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

  private read(frame: ArrivedFrame): Promise<BegunTurn | undefined> | undefined {
    if (this.inFlight >= MAX_IN_FLIGHT) {
      this.viewer.reply(tooMany());
      return undefined;
    }
    this.inFlight += 1;
    return this.rules
      .read(frame)
      .catch((thrown: unknown) => this.failed(thrown))
      .finally(() => {
        this.inFlight -= 1;
      });
  }
}

function tooMany(): Conflict {
  return new Conflict('Too many messages of this connection wait.', { retryAfterSecs: 1 });
}

/** Apart from the frame, whose bytes a closure beside it would keep until the turn is over. */
function releaseAfter(done: Promise<BegunTurn | undefined> | undefined, held: HeldBytes | undefined): void {
  const release = (): void => held?.release();
  if (done === undefined) release();
  else
    void done.then((begun) => {
      if (begun === undefined) release();
      else begun.answer.then(release, release);
    });
}
