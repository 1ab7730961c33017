import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A masked frame (RFC 6455, 5.2) with a mask of zero. */
export function clientFrame(opcode: number, payload: string): Buffer {
  return Buffer.concat([
    Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]),
    Buffer.from(payload),
  ]);
}

const AT_ONCE = 2000;
const REFUSED_PAUSE_MS = 50;

/**
 * Sends this many frames to a session's WebSocket and reads nothing, over as many connections as needed, `atOnce` of
 * them open at a time.
 * @returns how many connections were opened
 */
export async function flood(
  url: URL,
  token: string,
  frame: Buffer,
  frames: number,
  { atOnce, withinMs }: { readonly atOnce: number; readonly withinMs: number },
): Promise<number> {
  const deadline = performance.now() + withinMs;
  const many = Buffer.concat(Array<Buffer>(AT_ONCE).fill(frame));
  let [left, opened] = [frames, 0];
  const one = async (): Promise<void> => {
    while (left > 0 && performance.now() < deadline) {
      const socket = await open(url, token);
      if (socket === undefined) {
        await sleep(REFUSED_PAUSE_MS);
        continue;
      }
      opened += 1;
      while (left > 0 && !socket.destroyed && performance.now() < deadline) {
        left -= AT_ONCE;
        if (!socket.write(many) && !(await drains(socket))) break;
      }
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return opened;
}

/** Whether the other end accepts more within a second. */
function drains(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), 1000);
    const done = (isOpen: boolean) => () => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    socket.once('drain', done(true));
    socket.once('close', done(false));
  });
}

/** Undefined when the connection is refused. */
function open(url: URL, token: string): Promise<Socket | undefined> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined);
  socket.write(
    [
      `GET ${url.pathname} HTTP/1.1`,
      'Host: gateway',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      `Authorization: Bearer ${token}`,
      '\r\n',
    ].join('\r\n'),
  );
  return new Promise((resolve) => {
    socket.once('close', () => resolve(undefined));
    socket.once('data', (chunk: Buffer) => {
      const isOpen = chunk.toString('latin1').startsWith('HTTP/1.1 101');
      if (isOpen) socket.pause();
      else socket.destroy();
      resolve(isOpen ? socket : undefined);
    });
  });
}
