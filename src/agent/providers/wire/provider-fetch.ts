import type { IncomingMessage } from 'node:http';
import { traceHeaders } from '../../../tracing/spans.js';
import { type Posting, post } from './provider-connection.js';
import { WireFault } from './wire-fault.js';

/** Most of an error's body that is read, in bytes. */
const MAX_ERROR_BYTES = 16 * 1024;

/** Everything else that an SDK adds, from the environment or about this machine, stays here. */
const SENT_HEADERS = [
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'authorization',
  'content-type',
  'user-agent',
  'x-api-key',
];
const READ_HEADERS = ['content-type', 'retry-after', 'retry-after-ms', 'x-should-retry'];

/**
 * The `fetch` the SDKs are given: known headers only, no redirects, bounded bodies of errors.
 * Throws a `network` fault when there is no connection.
 */
export async function providerFetch(
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  if (input instanceof Request || typeof init.body !== 'string')
    throw new TypeError('Only text is sent here.');
  const message = await reach(new URL(input), {
    method: init.method ?? 'GET',
    headers: { ...knownHeaders(init.headers), ...traceHeaders() },
    body: init.body,
    signal: init.signal ?? undefined,
  });
  const status = message.statusCode ?? 0;
  const isGood = status >= 200 && status < 300;
  const body = isGood ? streamOf(message) : await beginningOf(message);
  // A response without a body cannot be made with one, be it empty.
  return new Response([204, 205, 304].includes(status) ? null : body, {
    status,
    headers: readHeaders(message),
  });
}

async function reach(url: URL, posting: Posting): Promise<IncomingMessage> {
  try {
    return await post(url, posting);
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    throw new WireFault({ kind: 'network', code: typeof code === 'string' ? code : undefined });
  }
}

function knownHeaders(given: RequestInit['headers']): Record<string, string> {
  const all = new Headers(given);
  return picked(SENT_HEADERS, (name) => all.get(name));
}

function readHeaders({ headers }: IncomingMessage): Record<string, string> {
  return picked(READ_HEADERS, (name) => headers[name]?.toString());
}

function picked(
  names: readonly string[],
  read: (name: string) => string | null | undefined,
): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name, read(name) ?? ''] as const).filter(([, value]) => value !== ''),
  );
}

/** Reads a piece when one is asked for; leaving it closes the connection. */
function streamOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  const pieces = message.iterator() as AsyncIterator<Uint8Array, undefined>;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await pieces.next();
        if (piece.done) controller.close();
        else controller.enqueue(piece.value);
      },
      cancel() {
        message.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

/** What of a body arrives within the bound; a body that breaks off is as good as a short one. */
async function beginningOf(message: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of message as AsyncIterable<Buffer>) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes >= MAX_ERROR_BYTES) break;
    }
  } catch {
    // What has arrived will do.
  }
  return Buffer.concat(pieces).toString('utf8', 0, MAX_ERROR_BYTES);
}
