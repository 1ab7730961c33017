import type { ServerResponse } from 'node:http';
import { Viewer } from '../../live/live.api.js';
import type { LiveEvent } from '../../turns/turns.api.js';
import type { EventEncoder } from '../chat/chat-events.js';

/** Nothing more is written to a viewer while more than this is in flight to it. */
const MAX_PENDING_BYTES = 65_536;
/** How long the client has to read what is in flight after the end. */
const CLOSING_MS = 5000;

/** A client that is shown one turn as the events of OpenAI's API. A stream that is cut ends without its last event. */
export class EventViewer extends Viewer {
  constructor(
    private readonly response: ServerResponse,
    private readonly encoder: EventEncoder,
  ) {
    super();
    response.once('close', () => this.end());
    response.on('drain', () => this.room());
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'X-Accel-Buffering': 'no',
    });
    response.write(encoder.opening());
  }

  get isFull(): boolean {
    return this.response.writableLength > MAX_PENDING_BYTES;
  }

  write(event: LiveEvent): void {
    const frames = this.encoder.frames(event);
    if (frames !== '') this.response.write(frames);
  }

  heartbeat(): void {
    if (this.response.writableLength === 0) this.response.write(': heartbeat\n\n');
  }

  cut(): void {
    this.finish();
  }

  protected traffic(): { sent: number; pending: number } {
    return { sent: this.response.socket?.bytesWritten ?? 0, pending: this.response.writableLength };
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
    this.response.end();
    setTimeout(() => this.response.destroy(), CLOSING_MS).unref();
  }
}
