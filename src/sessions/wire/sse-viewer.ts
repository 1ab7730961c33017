import type { ServerResponse } from 'node:http';
import type { ProfileId } from '../../profiles/profile.js';
import { eventId } from '../live/event-id.js';
import type { LiveEvent, TurnPlace } from '../live/live-event.js';
import { Viewer } from '../live/viewer.js';
import { presentEvent } from './turn-frames.js';

/** A viewer with more than this on its way is written no more. */
const MOST_PENDING_BYTES = 65_536;
const RETRY_MS = 1000;
/** After its end, the viewer has so long to take what is on its way. */
const CLOSING_MS = 5000;

/** A viewer over Server-Sent Events: of one turn, or of every turn of a session. */
export class SseViewer extends Viewer {
  constructor(
    private readonly response: ServerResponse,
    private readonly profile: ProfileId,
    private readonly until: 'turn' | 'cut',
  ) {
    super();
    response.once('close', () => this.end());
    response.on('drain', () => this.room());
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    response.write(`retry: ${RETRY_MS}\n\n`);
  }

  get isFull(): boolean {
    return this.response.writableLength > MOST_PENDING_BYTES;
  }

  write(event: LiveEvent, turnId: string, place: TurnPlace): void {
    const data = JSON.stringify(presentEvent(event, this.profile));
    this.response.write(`id: ${eventId(turnId, place)}\nevent: ${event.type}\ndata: ${data}\n\n`);
  }

  heartbeat(): void {
    if (this.response.writableLength === 0) this.response.write(': heartbeat\n\n');
  }

  cut(why: 'stalled' | 'forbidden'): void {
    this.finish(`: ${why}\n\n`);
  }

  protected traffic(): { sent: number; pending: number } {
    return { sent: this.response.socket?.bytesWritten ?? 0, pending: this.response.writableLength };
  }

  protected sayFarewell(retryMs: number): void {
    this.finish(`: the gateway is stopping\nretry: ${retryMs}\n\n`);
  }

  protected turnIsOver(): void {
    if (this.until === 'turn') this.finish('');
  }

  private finish(lastFrame: string): void {
    if (!this.isOpen) return;
    this.end();
    this.response.end(lastFrame);
    setTimeout(() => this.response.destroy(), CLOSING_MS).unref();
  }
}
