import { Api, GrammyError, HttpError } from 'grammy';
import { withoutEndSlashes } from '../../../../common/text/without-end-slashes.js';
import { type OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import {
  ChannelRefused,
  ChannelUnreachable,
  NotSent,
  unansweredCall,
  unansweredSend,
} from '../../channel-failures.js';

type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;

const DEFAULT_ROOT = 'https://api.telegram.org';
/** A hundred updates of the longest kind fit into it many times over. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface TelegramAccess {
  readonly token: string;
  readonly apiUrl: string;
  /** Longest call; one that waits for updates takes their time in addition. */
  readonly timeoutMs: number;
}

/** grammY's typed calls over the guarded client: no other way out, bounded in time and size. */
export function telegramApi(outbound: OutboundClient, { token, apiUrl, timeoutMs }: TelegramAccess): Api {
  const apiRoot = withoutEndSlashes(apiUrl === '' ? DEFAULT_ROOT : apiUrl);
  return new Api(token, {
    apiRoot,
    timeoutSeconds: timeoutMs / 1000,
    fetch: guardedFetch(outbound, timeoutMs),
  });
}

/** grammY's signals come from a library that predates Node's own; they do the same. */
export function grammySignal(signal: AbortSignal): GrammySignal {
  return signal as unknown as GrammySignal;
}

/** As much of `fetch` as grammY uses. Its type is that of a library whose types nobody installs. */
function guardedFetch(outbound: OutboundClient, timeoutMs: number): never {
  const call = async (url: unknown, init: { body?: unknown; signal?: unknown } = {}): Promise<unknown> => {
    const { status, body } = await outbound.read({
      method: 'POST',
      url: String(url),
      headers: { 'content-type': 'application/json' },
      body: typeof init.body === 'string' ? init.body : '{}',
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      signal: nativeSignal(init.signal),
    });
    return { json: () => Promise.resolve(answerOf(status, body)) };
  };
  return call as never;
}

/** What a proxy says in place of Telegram is no JSON; its status still tells what happened. */
function answerOf(status: number, body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return { ok: false, error_code: status, description: 'The answer is no JSON.' };
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

/** What Telegram answers to a token that it does not know (401), or that cannot be one (404). */
const REFUSED = new Set([401, 404]);
/** A gateway in between gave up: whether the message was taken, it does not say. */
const UNCLEAR = new Set([502, 504]);
const TELEGRAM = { name: 'Telegram', address: 'api_url' };

/** A failed call as the supervisor understands it. grammY's own errors hold the token in what they quote. */
export function connectionFailure(error: unknown): Error {
  if (error instanceof GrammyError) {
    const { error_code: code, description, parameters } = error;
    if (REFUSED.has(code)) return new ChannelRefused(`Telegram refuses the token: ${code} ${description}`);
    return new ChannelUnreachable(
      `Telegram answered ${code} ${description}`,
      millisOf(parameters.retry_after),
    );
  }
  return unansweredCall(TELEGRAM, causeOf(error));
}

/** A failed call as the outbox understands it. */
export function sendFailure(error: unknown): NotSent {
  if (error instanceof GrammyError) {
    const { error_code: code, description, parameters } = error;
    return new NotSent(
      whyOf(code),
      `Telegram answered ${code} ${description}`,
      millisOf(parameters.retry_after),
    );
  }
  return unansweredSend(TELEGRAM, causeOf(error));
}

function whyOf(code: number): NotSent['why'] {
  if (UNCLEAR.has(code)) return 'unknown';
  // A refused token may be replaced, and then the answer still goes out.
  return code === 401 || code === 429 || code >= 500 ? 'again' : 'never';
}

function causeOf(error: unknown): unknown {
  return error instanceof HttpError ? error.error : error;
}

function millisOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
