import { EventEmitter } from 'node:events';
import type { HeldBytes } from '../../../../common/bytes/held-bytes.js';
import { GatewayError, NoRoom } from '../../../../common/errors/gateway-error.js';
import { ArrivingMessage } from './arriving-message.js';

/** A piece after which a message takes up room. */
const PIECE = Buffer.alloc(100);
const noRoom = (): never => {
  throw new NoRoom('There is no room.', { retryAfterSecs: 1, details: { reason: 'too_many_bodies' } });
};

function arriving(add: HeldBytes['add'] = () => true) {
  const [socket, webSocket] = [new EventEmitter(), new EventEmitter()];
  const happened: string[] = [];
  const room = { add };
  const viewer = {
    isOpen: true,
    reply: (frame: unknown) =>
      happened.push(frame instanceof GatewayError ? String(frame.details?.reason) : 'frame'),
    refuseUnfinished: () => happened.push('refused'),
    pauseForRoom: () => happened.push('paused'),
    resumeWithRoom: () => happened.push('reads on'),
  };
  const message = new ArrivingMessage({
    socket: Object.assign(socket, { destroy: () => happened.push('destroyed') }) as never,
    webSocket: webSocket as never,
    enter: () => ({ add: (bytes) => room.add(bytes), release: () => happened.push('released') }),
    errorOf: (thrown) => thrown as GatewayError,
    viewer,
  });
  return { socket, webSocket, happened, message, viewer, room };
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

test('a message that has arrived keeps its room until it is handled, and the next one has its own two minutes', () => {
  const { socket, happened, message } = arriving();
  socket.emit('data', PIECE);
  jest.advanceTimersByTime(100_000);
  const arrived = message.take();
  socket.emit('data', PIECE);
  jest.advanceTimersByTime(100_000);
  expect(happened).toEqual([]);
  arrived.release();
  expect(happened).toEqual(['released']);
  jest.advanceTimersByTime(20_000);
  expect(happened).toEqual(['released', 'refused']);
});

test('a message that takes no room has no time-out, and a socket that ends leaves none behind', () => {
  const small = arriving(() => false);
  small.socket.emit('data', PIECE);
  const ended = arriving();
  ended.socket.emit('data', PIECE);
  ended.webSocket.emit('close');
  jest.advanceTimersByTime(1_000_000);
  expect([small.happened, ended.happened]).toEqual([[], ['released']]);
});

test('a message for which there is no room waits, and nothing more is read meanwhile', () => {
  const { socket, happened, room } = arriving();
  socket.emit('data', PIECE);
  room.add = noRoom;
  socket.emit('data', PIECE);
  expect(happened).toEqual(['paused']);
  jest.advanceTimersByTime(10_000);
  expect(new Set(happened)).toEqual(new Set(['paused']));
  happened.length = 0;
  room.add = () => true;
  jest.advanceTimersByTime(1000);
  expect(happened).toEqual(['reads on']);
});

test('it waits for thirty seconds and is refused', () => {
  const { socket, happened } = arriving(noRoom);
  socket.emit('data', PIECE);
  jest.advanceTimersByTime(29_000);
  expect(new Set(happened)).toEqual(new Set(['paused']));
  jest.advanceTimersByTime(1500);
  expect(happened.slice(-2)).toEqual(['too_many_bodies', 'refused']);
  happened.length = 0;
  jest.advanceTimersByTime(60_000);
  expect(happened).toEqual([]);
});

test('a message that arrived while it waited for room is handled, and reading goes on', () => {
  const { socket, happened, message } = arriving(noRoom);
  socket.emit('data', PIECE);
  message.take();
  expect(happened).toEqual(['paused', 'reads on']);
});

test('a socket that was told to close and goes on to send more than there is room for is cut', () => {
  const { socket, happened, viewer } = arriving(noRoom);
  viewer.isOpen = false;
  socket.emit('data', PIECE);
  expect(happened).toEqual(['destroyed']);
});

test('small pieces count what they take in memory, and controls give back their own', () => {
  let counted = 0;
  const { socket, webSocket } = arriving((bytes) => {
    counted += bytes;
    return false;
  });
  for (let sent = 0; sent < 10; sent += 1) socket.emit('data', Buffer.alloc(2));
  expect(counted).toBe(10 * (2 + 512));
  counted = 0;
  socket.emit('data', Buffer.alloc(12));
  // Two in one piece.
  for (let sent = 0; sent < 2; sent += 1) webSocket.emit('pong', Buffer.alloc(0));
  expect(counted).toBeLessThanOrEqual(0);
});
