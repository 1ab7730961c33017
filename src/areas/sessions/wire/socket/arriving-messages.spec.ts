import { EventEmitter } from 'node:events';
import { GatewayError, Unavailable } from '../../../../common/errors/gateway-error.js';
import type { HeldBody } from '../../../../http/body/body-room.js';
import { countArriving } from './arriving-messages.js';

/** A piece after which a message takes up room. */
const PIECE = Buffer.alloc(100);

function arriving(add: HeldBody['add'] = () => true) {
  const [socket, webSocket] = [new EventEmitter(), new EventEmitter()];
  const happened: string[] = [];
  let end = (): void => undefined;
  countArriving({
    socket: socket as never,
    webSocket: webSocket as never,
    held: { add, release: () => happened.push('released') },
    errorOf: (thrown) => thrown as GatewayError,
    viewer: {
      isOpen: true,
      reply: (frame) =>
        happened.push(frame instanceof GatewayError ? String(frame.details?.reason) : 'frame'),
      refuseUnfinished: () => happened.push('refused'),
      onEnd: (listener) => {
        end = listener;
      },
    },
  });
  return { socket, webSocket, happened, end: () => end() };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('a message that has not ended after two minutes closes its socket', () => {
  const { socket, happened } = arriving();
  socket.emit('data', PIECE);
  jest.advanceTimersByTime(60_000);
  // More of it gives it no more time.
  socket.emit('data', PIECE);
  jest.advanceTimersByTime(59_999);
  expect(happened).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(happened).toEqual(['refused']);
});

test('a message that has ended frees its room, and the next one has its own two minutes', () => {
  const { socket, webSocket, happened } = arriving();
  socket.emit('data', PIECE);
  jest.advanceTimersByTime(100_000);
  webSocket.emit('message');
  socket.emit('data', PIECE);
  jest.advanceTimersByTime(100_000);
  expect(happened).toEqual(['released']);
  jest.advanceTimersByTime(20_000);
  expect(happened).toEqual(['released', 'refused']);
});

test('a message that takes no room has no time-out, and a socket that ends leaves none behind', () => {
  const small = arriving(() => false);
  small.socket.emit('data', PIECE);
  const ended = arriving();
  ended.socket.emit('data', PIECE);
  ended.end();
  jest.advanceTimersByTime(1_000_000);
  expect([small.happened, ended.happened]).toEqual([[], ['released']]);
});

test('a message for which there is no room is refused', () => {
  const { socket, happened } = arriving(() => {
    throw new Unavailable('There is no room.', { retryAfterSecs: 1, details: { reason: 'too_many_bodies' } });
  });
  socket.emit('data', PIECE);
  expect(happened).toEqual(['too_many_bodies', 'refused']);
});
