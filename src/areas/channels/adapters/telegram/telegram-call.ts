import { GrammyError, HttpError } from 'grammy';
import { ChannelRefused, ChannelUnreachable, NotSent } from '../../channel-failures.js';
import { unansweredCall, unansweredSend } from '../unanswered.js';

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
