import type { IncomingMessage } from 'node:http';
import { WireFault } from './wire-fault.js';

/** Most of an error's body that is read, in bytes. */
const MAX_ERROR_BYTES = 16 * 1024;
const READ_HEADERS = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/** What an answer that is no success says. Both wires put it into `error`: a code or a type, and a sentence. */
export async function statusFault(answer: IncomingMessage, status: number): Promise<WireFault> {
  const { code, type, message } = errorIn(await beginningOf(answer));
  return new WireFault({
    kind: 'status',
    status,
    headers: readHeaders(answer),
    word: textOf(code) ?? textOf(type),
    sentence: textOf(message),
  });
}

function readHeaders({ headers }: IncomingMessage): Headers {
  const read = READ_HEADERS.map((name) => [name, headers[name]?.toString() ?? ''] as [string, string]);
  return new Headers(read.filter(([, value]) => value !== ''));
}

function errorIn(text: string): Record<string, unknown> {
  const body = parsed(text);
  return isObject(body) && isObject(body['error']) ? body['error'] : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
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
