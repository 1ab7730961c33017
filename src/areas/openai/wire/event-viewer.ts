import type { ServerResponse } from 'node:http';
import type { Traffic } from '../../../platform/runtime/event-stream.js';
import { SseResponse } from '../../../platform/runtime/sse-response.js';
import { Viewer } from '../../live/live.api.js';
import type { LiveEvent } from '../../turns/turns.api.js';
import type { EventEncoder } from '../chat/chat-events.js';

/** Nothing more is written to a viewer while more than this is in flight to it. */
const MAX_PENDING_BYTES = 65_536;

/** A client that sees one turn as the events of OpenAI's API. A stream that is cut ends without its last event. */
export class EventViewer extends Viewer {
  private readonly stream: SseResponse;

  constructor(
    response: ServerResponse,
    private readonly encoder: EventEncoder,
  ) {
    super();
    response.once('close', () => this.end());
    response.on('drain', () => this.room());
    this.stream = new SseResponse(response);
    this.stream.begin({
      opening: encoder.opening(),
      contentType: 'text/event-stream; charset=utf-8',
    });
  }

  get isFull(): boolean {
    return this.stream.pendingBytes > MAX_PENDING_BYTES;
  }

  write(event: LiveEvent): void {
    const frames = this.encoder.frames(event);
    if (frames !== '') this.stream.write(frames);
  }

  heartbeat(): void {
    this.stream.heartbeat(': heartbeat\n\n');
  }

  cut(): void {
    this.finish();
  }

  protected traffic(): Traffic {
    return this.stream.traffic;
  }

  protected sendClose(): void {
    this.finish();
  }

  protected turnIsOver(): void {
    this.finish();
  }

  private finish(): void {
    if (!this.isOpen) return;
    this.end();
    this.stream.end();
  }
}
