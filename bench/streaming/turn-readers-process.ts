import { Agent, type IncomingMessage, request } from 'node:http';
import { WebSocket } from 'ws';
import { serveHelper } from '../harness/serve-helper.js';

export interface ReadersQuestion {
  /** `provider` calls the model directly, without a gateway. */
  readonly way: 'provider' | 'sse' | 'websocket';
  /** One URL per reader, which requests it again and again. */
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly durationMs: number;
}

export interface ReadersAnswer {
  /** From the question to the first piece of the answer, for each turn, in milliseconds. */
  readonly firstMs: readonly number[];
  readonly turns: number;
  /** Frames with a piece of the answer; a reader that is behind gets several pieces in one frame. */
  readonly frames: number;
  readonly seconds: number;
}

const PROMPT = 'How fast is this?';
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/** How to recognise the frames of each way, and to count the words in them. */
const FRAMES = {
  provider: '"delta":{"content"',
  sse: 'event: token\n',
  websocket: '"type":"token"',
} as const;

class Tally {
  readonly firstMs: number[] = [];
  turns = 0;
  frames = 0;

  /** @returns a function that records the pieces of one turn */
  turn(mark: string): (text: string) => void {
    const askedAt = performance.now();
    let isFirst = true;
    return (text) => {
      const frames = text.split(mark).length - 1;
      if (frames === 0) return;
      if (isFirst) this.firstMs.push(performance.now() - askedAt);
      isFirst = false;
      this.frames += frames;
    };
  }
}

await serveHelper<object, ReadersQuestion, ReadersAnswer>(() => Promise.resolve({ ready: true, answer }));

async function answer(question: ReadersQuestion): Promise<ReadersAnswer> {
  const tally = new Tally();
  const startedAt = performance.now();
  const endsAt = startedAt + question.durationMs;
  await Promise.all(
    question.urls.map((url) =>
      question.way === 'websocket'
        ? overSocket(url, question, tally, endsAt)
        : overHttp(url, question, tally, endsAt),
    ),
  );
  const { firstMs, turns, frames } = tally;
  return { firstMs, turns, frames, seconds: (performance.now() - startedAt) / 1000 };
}

async function overHttp(
  url: string,
  { way, headers }: ReadersQuestion,
  tally: Tally,
  endsAt: number,
): Promise<void> {
  const body =
    way === 'provider'
      ? { model: 'bench', messages: [{ role: 'user', content: PROMPT }], stream: true }
      : { content: PROMPT };
  while (performance.now() < endsAt) {
    const note = tally.turn(FRAMES[way]);
    let isWhole = way === 'provider';
    for await (const chunk of await post(url, headers, JSON.stringify(body))) {
      const text = String(chunk);
      // Frames have a few dozen bytes, so the end of a chunk cuts only a few of them.
      note(text);
      isWhole ||= text.includes('event: done');
    }
    if (!isWhole) throw new Error('A turn was not answered.');
    tally.turns += 1;
  }
}

function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(url, {
      ...{ method: 'POST', agent },
      headers: { ...headers, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    });
    asked.once('error', reject);
    asked.once('response', resolve);
    asked.end(body);
  });
}

async function overSocket(
  url: string,
  { headers }: ReadersQuestion,
  tally: Tally,
  endsAt: number,
): Promise<void> {
  const socket = new WebSocket(url, { headers });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const lost = new Promise<never>((_, reject) => {
    socket.once('error', reject).once('close', () => reject(new Error('A WebSocket was closed.')));
  });
  lost.catch(() => undefined);
  while (performance.now() < endsAt) {
    const note = tally.turn(FRAMES.websocket);
    const done = new Promise<void>((resolve, reject) => {
      socket.on('message', (data: Buffer) => {
        const text = data.toString('utf8');
        note(text);
        if (text.includes('"type":"error"')) reject(new Error(text));
        if (!text.includes('"type":"done"')) return;
        resolve();
      });
      socket.send(JSON.stringify({ type: 'message', content: PROMPT }));
    });
    await Promise.race([done, lost]);
    socket.removeAllListeners('message');
    tally.turns += 1;
  }
  socket.terminate();
}
