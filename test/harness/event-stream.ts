import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { eventually } from './eventually.js';

export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** A reader of Server-Sent Events, parsed as the WHATWG standard says. It keeps everything it received. */
export class EventStream {
  readonly events: StreamEvent[] = [];
  readonly comments: string[] = [];
  /** Of the last complete event: one that was cut off is requested again. */
  lastEventId = '';
  retryMs: number | undefined;
  /** How it ended: `complete` when the server closed it properly. */
  ended: 'complete' | 'cut' | undefined;
  private rest = '';
  private lastIdRead = '';
  private fields = { event: '', data: '' };

  private constructor(
    private readonly request: ClientRequest,
    readonly response: IncomingMessage,
  ) {
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.parse(text));
    response.on('end', () => {
      this.ended = 'complete';
    });
    response.on('error', () => {
      this.ended ??= 'cut';
    });
    response.on('close', () => {
      this.ended ??= 'cut';
    });
  }

  /** Resolves with the headers, whatever the status is. */
  static open(url: string, token: string | undefined, headers: Record<string, string> = {}) {
    return new Promise<EventStream>((resolve, reject) => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const request = get(url, { agent: false, headers: { ...authorization, ...headers } }, (response) =>
        resolve(new EventStream(request, response)),
      );
      request.on('error', reject);
    });
  }

  get status(): number | undefined {
    return this.response.statusCode;
  }

  /** The data of all events of one kind, parsed. */
  of<Data>(event: string): Data[] {
    return this.events.filter((one) => one.event === event).map(({ data }) => JSON.parse(data) as Data);
  }

  /** Waits until `count` events of this kind have arrived. */
  async until(event: string, count: number, timeoutMs = 10_000): Promise<void> {
    await eventually(() => {
      const got = this.events.filter((one) => one.event === event).length;
      if (got < count) throw new Error(`${got} of ${count} ${event} events came`);
    }, timeoutMs);
  }

  /** Stops reading, as a hanging reader would. `resume` continues. */
  pause(): void {
    this.response.pause();
  }

  resume(): void {
    this.response.resume();
  }

  close(): void {
    this.request.destroy();
  }

  private parse(text: string): void {
    const lines = (this.rest + text).split(/\r\n|\n|\r/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line === '') {
      this.dispatch();
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) this.comments.push(line.slice(1).trim());
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') this.lastIdRead = value;
    if (name === 'retry') this.retryMs = Number(value);
    if (name === 'event') this.fields.event = value;
    if (name === 'data') this.fields.data += `${value}\n`;
  }

  private dispatch(): void {
    const { event, data } = this.fields;
    this.fields = { event: '', data: '' };
    this.lastEventId = this.lastIdRead;
    if (data === '') return;
    this.events.push({ id: this.lastEventId, event: event || 'message', data: data.slice(0, -1) });
  }
}
