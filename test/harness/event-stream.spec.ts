import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventStream } from './event-stream.js';
import { eventually } from './eventually.js';

const EVENTS = [1, 2, 3].map((n) => `id: ${n}\nevent: log\ndata: {"n":${n}}\n\n`);
const ALL = EVENTS.join('');

let server: Server;
let base: string;

/** Serves the events after the reader's last one, and cuts the connection after `bytes`. */
beforeAll(async () => {
  server = createServer(({ url = '', headers }, response) => {
    const seen = Number(headers['last-event-id'] ?? 0);
    const text = EVENTS.slice(seen).join('');
    response.writeHead(200, { 'content-length': text.length });
    response.write(text.slice(0, Number(url.slice(1))), () => response.destroy());
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((closed) => server.close(closed)));

async function readUntilCut(bytes: number, lastEventId?: string): Promise<EventStream> {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const stream = await EventStream.open(`${base}/${bytes}`, undefined, headers);
  await eventually(() => expect(stream.ended).toBeDefined());
  return stream;
}

test('wherever a stream is cut, also in the middle of an event, going on after its last id brings each event once', async () => {
  const read = async (bytes: number) => {
    const first = await readUntilCut(bytes);
    const second = await readUntilCut(ALL.length, first.lastEventId);
    return [...first.of<{ n: number }>('log'), ...second.of<{ n: number }>('log')].map(({ n }) => n);
  };
  const cuts = Array.from({ length: ALL.length - 1 }, (_cut, index) => index + 1);
  const readings = await Promise.all(cuts.map(read));
  expect(readings).toEqual(cuts.map(() => [1, 2, 3]));
});
