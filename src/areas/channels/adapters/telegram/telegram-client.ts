import { Api, GrammyError, HttpError } from 'grammy';
import { withoutEndSlashes } from '../../../../common/text/without-end-slashes.js';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import {
  ChannelRefused,
  ChannelUnreachable,
  connectionFailureOf,
  NotSent,
  sendFailureOf,
} from '../../channel-failures.js';

type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;

export const DEFAULT_ROOT = 'https://api.telegram.org';
/** Many times a hundred updates of maximum length. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

export interface TelegramAccess {
  readonly token: string;
  readonly apiUrl: string;
  /** Time limit of one call; waiting for updates comes on top. */
  readonly timeoutMs: number;
}

/** grammY's typed calls, sent through the guarded client and bounded in time and size. */
export function telegramApi(outbound: OutboundClient, { token, apiUrl, timeoutMs }: TelegramAccess): Api {
  const apiRoot = withoutEndSlashes(apiUrl === '' ? DEFAULT_ROOT : apiUrl);
  return new Api(token, {
    apiRoot,
    timeoutSeconds: timeoutMs / 1000,
    fetch: guardedFetch(outbound, timeoutMs),
  });
}

/** grammY's signal type comes from a library older than Node's own; both work alike. */
export function grammySignal(signal: AbortSignal): GrammySignal {
  return signal as unknown as GrammySignal;
}

/** The part of `fetch` that grammY uses. It is typed by a library that is not installed, hence `never`. */
function guardedFetch(outbound: OutboundClient, timeoutMs: number): never {
  const call = async (url: unknown, init: GrammyInit = {}): Promise<unknown> => {
    const { status, body } = await outbound.read({
      method: 'POST',
      url: String(url),
      headers: { 'content-type': 'application/json', ...contentTypeOf(init) },
      body: await bodyOf(init.body),
      timeoutMs,
      maxBytes: MAX_RESPONSE_BYTES,
      signal: nativeSignal(init.signal),
    });
    return { json: () => Promise.resolve(answerOf(status, body)) };
  };
  return call as never;
}

interface GrammyInit {
  readonly body?: unknown;
  readonly headers?: unknown;
  readonly signal?: unknown;
}

/** The body of an upload has parts, whose boundary its type names. */
function contentTypeOf({ headers }: GrammyInit): { 'content-type'?: string } {
  const type = (headers as Record<string, unknown> | undefined)?.['content-type'];
  return typeof type === 'string' ? { 'content-type': type } : {};
}

/** Text, or the pieces of an upload, whose file is in memory already. */
async function bodyOf(body: unknown): Promise<string | Buffer> {
  if (typeof body === 'string') return body;
  if (typeof body !== 'object' || body === null) return '{}';
  const pieces: Uint8Array[] = [];
  for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** A proxy may respond in place of Telegram, without JSON; its status is still useful. */
function answerOf(status: number, body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return { ok: false, error_code: status, description: 'The response is not JSON.' };
  }
}

function nativeSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined;
  const foreign = signal as Pick<AbortSignal, 'aborted' | 'addEventListener'>;
  const own = new AbortController();
  if (foreign.aborted) own.abort();
  else foreign.addEventListener('abort', () => own.abort());
  return own.signal;
}

/** Telegram's responses to an unknown token (401) and to one that cannot exist (404). */
const REFUSED = new Set([401, 404]);
/** A proxy in between gave up, so the message may have been accepted. */
const UNCLEAR = new Set([502, 504]);
const TELEGRAM = { name: 'Telegram', address: 'api_url' };

/** Why a call failed, for the supervisor. grammY's own messages can contain the token and are not repeated. */
export function connectionFailure(error: unknown): Error {
  if (error instanceof GrammyError) {
    const { error_code: code, description, parameters } = error;
    if (REFUSED.has(code)) return new ChannelRefused(`Telegram refuses the token: ${code} ${description}`);
    return new ChannelUnreachable(
      `Telegram answered ${code} ${description}`,
      millisOf(parameters.retry_after),
    );
  }
  return connectionFailureOf(TELEGRAM, causeOf(error));
}

/** Why a reply was not sent, for the outbox. */
export function sendFailure(error: unknown): NotSent {
  if (error instanceof GrammyError) {
    const { error_code: code, description, parameters } = error;
    return new NotSent(
      whyOf(code),
      `Telegram answered ${code} ${description}`,
      millisOf(parameters.retry_after),
    );
  }
  return sendFailureOf(TELEGRAM, causeOf(error));
}

function whyOf(code: number): NotSent['why'] {
  if (UNCLEAR.has(code)) return 'unknown';
  // A refused token may be replaced; the reply is then still sent.
  return code === 401 || code === 429 || code >= 500 ? 'retry' : 'rejected';
}

export function causeOf(error: unknown): unknown {
  return error instanceof HttpError ? error.error : error;
}

function millisOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
