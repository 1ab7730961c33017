import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type WireFrames, wires } from '../../harness/provider-wires.js';
import {
  beginStream,
  frame,
  type ScriptedProvider,
  type ScriptedRequest,
  startScriptedProvider,
} from '../../harness/scripted-provider.js';

export const HOSTILITIES = [
  'never-answers',
  'drips-its-head',
  'falls-silent',
  'drips-a-frame',
  'comments-for-ever',
  'resets-at-once',
  'resets-amid',
  'floods-text',
  'floods-without-an-event',
  'floods-its-head',
] as const;
export type Hostility = (typeof HOSTILITIES)[number];

const FLOOD_BYTES = 100 * 1_048_576;
const DRIP_MS = 100;

export interface HostileProvider {
  readonly scripted: ScriptedProvider;
  /** When the deadline for this answer began: at the request, or at the last event that was written. */
  since(content: string): number;
  /** How many bytes of the flood were written. */
  flooded(content: string): number;
}

/**
 * A provider for both wires whose behaviour the first word of a message chooses. It answers all other messages
 * properly.
 */
export async function startHostileProvider(): Promise<HostileProvider> {
  const scripted = await startScriptedProvider();
  const since = new Map<string, number>();
  const flooded = new Map<string, number>();
  scripted.script((response, request) => {
    const wire = wires.find(({ kind }) => request.path.includes('messages') === (kind === 'anthropic'));
    const content = lastContent(request);
    const hostility = HOSTILITIES.find((one) => one === content.split(' ')[0]);
    if (wire === undefined) throw new Error(`No wire speaks ${request.path}.`);
    if (hostility === undefined) {
      beginStream(response, ...wire.opening, wire.text('Gladly.'), ...wire.closing);
      response.end();
      return;
    }
    behaviours[hostility](response, wire, (bytes) =>
      flooded.set(content, (flooded.get(content) ?? 0) + bytes),
    );
    since.set(content, performance.now());
  });
  return {
    scripted,
    since: (content) => since.get(content) ?? Number.NaN,
    flooded: (content) => flooded.get(content) ?? 0,
  };
}

type Behaviour = (response: ServerResponse, wire: WireFrames, noteBytes: (bytes: number) => void) => void;

const behaviours: Readonly<Record<Hostility, Behaviour>> = {
  'never-answers': () => undefined,
  'drips-its-head': (response) => {
    const socket = socketOf(response);
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
    writeSlowly(response, () => socket.write('x'));
  },
  'falls-silent': (response, wire) => beginStream(response, ...wire.opening, wire.text('Half')),
  'drips-a-frame': (response, wire) => {
    beginStream(response, ...wire.opening, wire.text('Half'));
    writeSlowly(response, () => response.write('d'));
  },
  'comments-for-ever': (response, wire) => {
    beginStream(response, ...wire.opening, wire.text('Half'));
    writeSlowly(response, () => response.write(': still there\n\n'));
  },
  'resets-at-once': (response) => void socketOf(response).resetAndDestroy(),
  'resets-amid': (response, wire) => {
    beginStream(response, ...wire.opening, wire.text('Half'));
    setTimeout(() => socketOf(response).resetAndDestroy(), DRIP_MS);
  },
  'floods-text': (response, wire, noteBytes) => {
    beginStream(response, ...wire.opening);
    writeAtFullSpeed(response, frame(wire.text('y'.repeat(65_536))), noteBytes);
  },
  'floods-without-an-event': (response, wire, noteBytes) => {
    beginStream(response, ...wire.opening);
    writeAtFullSpeed(response, 'x'.repeat(65_536), noteBytes);
  },
  'floods-its-head': (response, _wire, noteBytes) => {
    const socket = socketOf(response);
    socket.write('HTTP/1.1 200 OK\r\nX-Large: ');
    writeAtFullSpeed(socket, 'x'.repeat(65_536), noteBytes);
  },
};

function writeSlowly(response: ServerResponse, write: () => void): void {
  const dripping = setInterval(write, DRIP_MS);
  response.on('close', () => clearInterval(dripping));
}

/** Writes as fast as the other end accepts, 100 MB in all. */
function writeAtFullSpeed(
  to: Socket | ServerResponse,
  piece: string,
  noteBytes: (bytes: number) => void,
): void {
  let left = FLOOD_BYTES;
  const more = (error?: Error | null): void => {
    if (error || to.destroyed || left <= 0) return;
    left -= piece.length;
    noteBytes(piece.length);
    to.write(piece, more);
  };
  more();
}

function socketOf({ socket }: ServerResponse): Socket {
  if (socket === null) throw new Error('The connection is gone.');
  return socket;
}

/** The user's last message, on either wire. */
function lastContent({ body }: ScriptedRequest): string {
  const messages = body['messages'] as { content: string | { text: string }[] }[];
  const content = messages.at(-1)?.content ?? '';
  return typeof content === 'string' ? content : (content.at(-1)?.text ?? '');
}
