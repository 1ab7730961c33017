import { setTimeout as sleep } from 'node:timers/promises';
import { type EventSourceMessage } from 'eventsource-parser';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Terminal } from '../command-context.js';
import { type GatewayClient, RemoteFailure } from './gateway-client.js';

/** One event may hold a whole answer; more than this, in characters, is no event of a gateway. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;
/** A stream of the gateway shows a sign of life at least every 15 s. */
const SILENCE_MS = 60_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** The events of an answer as they come. */
export function eventsOf(answer: Response): AsyncIterable<EventSourceMessage> {
  if (answer.body === null) throw new RemoteFailure('The gateway answered without a stream.');
  return answer.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate', maxBufferSize: MAX_EVENT_CHARACTERS }));
}

interface Followed {
  readonly client: GatewayClient;
  readonly path: string;
  readonly terminal: Pick<Terminal, 'err'>;
  readonly signal: AbortSignal;
}

/**
 * Passes on the events of a stream until the signal, and comes back after the last one when the connection is lost.
 * Rejects when the gateway cannot be reached at first, or refuses.
 */
export async function follow(
  { client, path, terminal, signal }: Followed,
  show: (event: EventSourceMessage) => void | Promise<void>,
): Promise<void> {
  let lastId: string | undefined;
  let isFirst = true;
  let waitMs = FIRST_WAIT_MS;
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    try {
      for await (const event of untilSilent(client, path, lastId, signal)) {
        isFirst = false;
        waitMs = FIRST_WAIT_MS;
        lastId = event.id ?? lastId;
        await show(event);
      }
    } catch (error) {
      if (isOver()) return;
      if (isFirst || isRefusal(error)) throw error;
    }
    if (isOver()) return;
    isFirst = false;
    terminal.err('[the connection was lost; trying again]\n');
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

async function* untilSilent(
  client: GatewayClient,
  path: string,
  lastId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const answer = await client.stream(path, AbortSignal.any([signal, silence.signal]), lastId);
    if (answer.body === null) throw new RemoteFailure('The gateway answered without a stream.');
    const alive = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        timer.refresh();
        controller.enqueue(chunk);
      },
    });
    yield* eventsOf(new Response(answer.body.pipeThrough(alive)));
  } finally {
    clearTimeout(timer);
  }
}

/** Responses after which a retry would be refused again. Without a status nobody answered. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof RemoteFailure)) return false;
  const { status } = error;
  return status !== undefined && status < 500 && status !== 429;
}
