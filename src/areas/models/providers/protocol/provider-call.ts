import type { IncomingMessage } from 'node:http';
import type { Egress } from '../../../../platform/outbound/egress.js';
import { OutboundFailed } from '../../../../platform/outbound/outbound.errors.js';
import { traceHeaders } from '../../../../platform/tracing/spans.js';
import { type Posting, ProviderConnection } from './provider-connection.js';
import { WireFault } from './wire-fault.js';

/** Every other header that an SDK adds, from the environment or about this machine, is left out. */
const SENT_HEADERS = [
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'authorization',
  'content-type',
  'user-agent',
  'x-api-key',
];

/** Where the calls of a provider go, and with which headers. */
export interface CallTarget {
  readonly connection: ProviderConnection;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request as a provider's SDK composes it. */
interface ComposedRequest {
  readonly url: string;
  readonly req: { readonly headers: Headers };
}

/**
 * The SDK composes one request to show how its service is called; from then on every call goes there directly. Making
 * each call through the SDK took a quarter of a turn's CPU, for a request of which only the body differs.
 */
export function callTarget({ url, req }: ComposedRequest, egress: Egress): CallTarget {
  const headers = SENT_HEADERS.map((name) => [name, req.headers.get(name) ?? ''] as const);
  const connection = new ProviderConnection(new URL(url), egress);
  return { connection, headers: Object.fromEntries(headers.filter(([, value]) => value !== '')) };
}

/**
 * Starts one call, and resolves with the start of its answer. Follows no redirect. Throws a `network` fault when there
 * is no connection, and a `status` fault for an answer without success.
 */
export async function callProvider(
  { connection, headers }: CallTarget,
  params: object,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const body = JSON.stringify(params);
  const answer = await reach(connection, { headers: { ...headers, ...traceHeaders() }, body, signal });
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 299) throw await statusFault(answer, status);
  return answer;
}

async function reach(connection: ProviderConnection, posting: Posting): Promise<IncomingMessage> {
  try {
    return await connection.post(posting);
  } catch (error) {
    if (error instanceof OutboundFailed) throw new WireFault({ kind: 'network', code: error.reasonText });
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    throw new WireFault({ kind: 'network', code: typeof code === 'string' ? code : undefined });
  }
}

/** How much of an error's body is read at most, in bytes. */
const MAX_ERROR_BYTES = 16 * 1024;
const READ_HEADERS = ['retry-after', 'retry-after-ms', 'x-should-retry'];

/** What an error response contains. Both wires put it into `error`: a code or a type, and a sentence. */
async function statusFault(answer: IncomingMessage, status: number): Promise<WireFault> {
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

/** As much of a body as arrives within the bound; a body that breaks off is treated like a short one. */
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
    // Use what has arrived.
  }
  return Buffer.concat(pieces).toString('utf8', 0, MAX_ERROR_BYTES);
}
