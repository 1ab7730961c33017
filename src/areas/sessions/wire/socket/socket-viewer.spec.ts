import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { BadRequest } from '../../../../common/errors/gateway-error.js';
import { SocketViewer } from './socket-viewer.js';

/** A connection that takes what it is sent when the test says so. */
class SlowSocket extends EventEmitter {
  bufferedAmount = 0;
  isPaused = false;
  private readonly sent: (() => void)[] = [];

  send(text: string, taken: () => void): void {
    this.bufferedAmount += text.length;
    this.sent.push(() => {
      this.bufferedAmount -= text.length;
      taken();
    });
  }

  pong(data: Buffer, _mask: boolean, taken: () => void): void {
    this.send(data.toString(), taken);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  takeAll(): void {
    for (const taken of this.sent.splice(0)) taken();
  }
}

const LARGE = 'x'.repeat(1000);

test.each([
  ['an error', (viewer: SocketViewer) => viewer.reply(new BadRequest(LARGE))],
  ['a pong of the protocol', (viewer: SocketViewer) => viewer.pong(Buffer.from(LARGE))],
])('while a client does not take its answers (%s) nothing more is read from it', (_, answer) => {
  const slow = new SlowSocket();
  const viewer = new SocketViewer(slow as unknown as WebSocket, {} as Socket, 'a');
  let answered = 0;
  while (!slow.isPaused && answered < 1000) {
    answer(viewer);
    answered += 1;
  }
  expect(answered).toBeGreaterThan(50);
  expect(answered).toBeLessThan(70);
  slow.takeAll();
  expect(slow.isPaused).toBe(false);
});

test('a client that is held back is not read, whatever it is sent, and not taken for dead', () => {
  const slow = new SlowSocket();
  const viewer = new SocketViewer(slow as unknown as WebSocket, {} as Socket, 'a');
  viewer.pauseForRoom();
  viewer.reply({ type: 'pong' });
  slow.takeAll();
  viewer.readOn();
  for (let beats = 0; beats < 3; beats += 1) viewer.heartbeat();
  expect(slow.isPaused).toBe(true);
  viewer.resumeWithRoom();
  expect(slow.isPaused).toBe(false);
});
