import { Unauthorized } from '../../common/errors/gateway-error.js';
import type { CutReason, Traffic } from '../../platform/runtime/event-stream.js';
import { type LiveEvent, type Message, TurnHandedOver, type TurnPosition } from '../turns/turns.api.js';
import { Viewer } from './viewer.js';

/** Shows one turn to code of this process that answers in a protocol of its own, and tells it how the turn ended. */
export class WatchedTurn extends Viewer {
  readonly isFull = false;
  /** Rejects with what the turn failed with, and with `TurnHandedOver` when this replica stops watching it. */
  readonly answer: Promise<Message>;
  private turnFailure: Error | undefined;
  private settle: { resolve(answer: Message): void; reject(error: Error): void } | undefined;

  /**
   * @param listener is called for every event, the last one included
   * @param connection what was written for the caller; left out where the code that answers watches over its reader
   */
  constructor(
    private readonly listener: (event: LiveEvent, position: TurnPosition) => void,
    private readonly connection: () => Traffic = () => ({ sent: 0, pending: 0 }),
  ) {
    super();
    this.answer = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    this.answer.catch(() => undefined);
  }

  /** What the turn itself failed with. */
  get failure(): Error | undefined {
    return this.turnFailure;
  }

  write(event: LiveEvent, _turnId: string, position: TurnPosition): void {
    this.listener(event, position);
    if (event.type === 'done') this.settle?.resolve(event.message);
    else if (event.type === 'error') {
      this.turnFailure = event.error;
      this.settle?.reject(event.error);
    }
  }

  heartbeat(): void {
    // Who answers keeps the connection alive.
  }

  cut(why: CutReason): void {
    this.fail(why === 'forbidden' ? new Unauthorized('The access token ended.') : new TurnHandedOver());
  }

  /** Ends the watch without an answer. */
  fail(error: Error): void {
    this.settle?.reject(error);
    this.end();
  }

  protected traffic(): Traffic {
    return this.connection();
  }

  protected sendClose(): void {
    this.fail(new TurnHandedOver());
  }

  protected turnIsOver(): void {
    this.end();
  }
}
