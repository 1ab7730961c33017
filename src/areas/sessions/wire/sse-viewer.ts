import type { ServerResponse } from 'node:http';
import type { ProfileId } from '../../../http/profiles/profile.js';
import type { CutReason, Traffic } from '../../../platform/runtime/event-stream.js';
import { SseResponse } from '../../../platform/runtime/sse-response.js';
import { eventId, type SeenEvent, Viewer } from '../../live/live.api.js';
import { isLast, type LiveEvent, type TurnPosition } from '../../turns/turns.api.js';
import { presentEvent } from './turn-events.views.js';

/** Nothing more is written to a viewer while more than this is in flight to it. */
const MAX_PENDING_BYTES = 65_536;
const RETRY_MS = 1000;

/**
 * A viewer over Server-Sent Events: of one turn, or of every turn of a session. An empty line only ever follows data:
 * handwritten clients take any empty line for a message. Fields before the first event are read line by line.
 * The id of an event is its last line, since some clients store it before they have the whole event.
 */
export class SseViewer extends Viewer {
  private readonly stream: SseResponse;
  private hasEnded = false;

  /** @param from where the viewer begins, if it follows one turn only */
  constructor(
    response: ServerResponse,
    private readonly profile: ProfileId,
    private readonly from?: SeenEvent,
  ) {
    super();
    response.once('close', () => this.end());
    response.on('drain', () => this.room());
    this.stream = new SseResponse(response);
    // A client that is cut off before the first event has an id to come back with.
    const cameFrom = from === undefined ? '' : `id: ${eventId(from.turnId, from)}\n`;
    this.stream.begin({ opening: `retry: ${RETRY_MS}\n${cameFrom}` });
  }

  get isFull(): boolean {
    return this.stream.pendingBytes > MAX_PENDING_BYTES;
  }

  write(event: LiveEvent, turnId: string, position: TurnPosition): void {
    const data = JSON.stringify(presentEvent(event, this.profile));
    this.hasEnded = isLast(event);
    this.stream.write(`event: ${event.type}\ndata: ${data}\nid: ${eventId(turnId, position)}\n\n`);
  }

  heartbeat(): void {
    this.stream.heartbeat(': heartbeat\n');
  }

  cut(why: CutReason): void {
    this.finish(`: ${why}\n`);
  }

  protected traffic(): Traffic {
    return this.stream.traffic;
  }

  protected sendClose(retryMs: number): void {
    this.finish(`: the gateway is stopping\nretry: ${retryMs}\n`);
  }

  protected turnIsOver(): void {
    if (this.from !== undefined) this.finish('');
  }

  private finish(lastFrame: string): void {
    if (!this.isOpen) return;
    this.end();
    // A stream that ended here would look complete; after a cut connection clients come back.
    const isCut = this.from !== undefined && !this.hasEnded;
    if (isCut) this.stream.cut(lastFrame);
    else this.stream.end(lastFrame);
  }
}
