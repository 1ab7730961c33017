import { Logs } from '../../src/platform/logging/logger.js';
import { EventStream } from './event-stream.js';
import { eventually } from './eventually.js';
import type { TestGateway } from './gateway.js';

export interface LogEntryFrame {
  readonly level: string;
  readonly module: string;
  readonly message: string;
}

/** The log streams that a test has open. */
export class LogReaders {
  private readonly streams: EventStream[] = [];

  async read(
    gateway: TestGateway,
    path: string,
    { after, token = gateway.token }: { after?: string; token?: string } = {},
  ): Promise<EventStream> {
    const headers: Record<string, string> = after === undefined ? {} : { 'last-event-id': after };
    const stream = await EventStream.open(`${gateway.b.base}${path}`, token, headers);
    this.streams.push(stream);
    return stream;
  }

  close(): void {
    for (const stream of this.streams.splice(0)) stream.close();
  }
}

export const loggerOf = (gateway: TestGateway, module: string) => gateway.started.app.get(Logs).for(module);

/** The messages of the lines that a stream received. */
export const messagesOf = (stream: EventStream) =>
  stream.of<LogEntryFrame>('log').map(({ message }) => message);

/** Waits until `count` lines of a module are stored. */
export async function stored(gateway: TestGateway, module: string, count: number): Promise<void> {
  await eventually(async () => {
    const { body } = await gateway.b.get<{ total: number }>(`/logs?module=${module}&limit=1`);
    expect(body.total).toBe(count);
  });
}

/** The stream, once it has an id from which to resume. */
export async function openedStream(stream: EventStream): Promise<EventStream> {
  await eventually(() => expect(stream.lastEventId).toMatch(/^\d+$/));
  return stream;
}
