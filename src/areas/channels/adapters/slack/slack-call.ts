import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from '@slack/web-api';
import { ChannelRefused, ChannelUnreachable, NotSent } from '../../channel-failures.js';
import { unansweredCall, unansweredSend } from '../unanswered.js';

/** What Slack says of a token that it will not take until somebody changes something. */
const REFUSED = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'missing_scope',
  'not_allowed_token_type',
  'user_removed_from_team',
  'team_disabled',
]);
/** Nothing was done. */
const LATER = new Set([
  'ratelimited',
  'rate_limited',
  'service_unavailable',
  'team_added_to_org',
  'request_timeout',
]);
/** Something may have been done. */
const UNCLEAR = new Set(['internal_error', 'fatal_error']);
const SLACK = { name: 'Slack', address: "Slack's address" };

/** A failed call as the supervisor understands it. */
export function connectionFailure(error: unknown): Error {
  if (error instanceof ChannelRefused || error instanceof ChannelUnreachable) return error;
  const code = codeOf(error);
  if (code !== undefined) {
    const said = `${code}${neededOf(error)}`;
    return REFUSED.has(code)
      ? new ChannelRefused(`Slack refuses the credentials: ${said}`)
      : new ChannelUnreachable(`Slack answered ${said}`);
  }
  if (error instanceof WebAPIRateLimitedError) {
    return new ChannelUnreachable('Slack answered 429', error.retryAfter * 1000);
  }
  if (error instanceof WebAPIHTTPError) return new ChannelUnreachable(`Slack answered ${error.statusCode}`);
  return unansweredCall(SLACK, causeOf(error));
}

/** A failed call as the outbox understands it. */
export function sendFailure(error: unknown): NotSent {
  const code = codeOf(error);
  if (code !== undefined) return new NotSent(whyOf(code), `Slack answered ${code}${neededOf(error)}`);
  if (error instanceof WebAPIRateLimitedError) {
    return new NotSent('again', 'Slack answered 429', error.retryAfter * 1000);
  }
  if (error instanceof WebAPIHTTPError) {
    const { statusCode } = error;
    return new NotSent(whyOfStatus(statusCode), `Slack answered ${statusCode}`);
  }
  return unansweredSend(SLACK, causeOf(error));
}

/** Whether the answer is that the credentials are not taken. */
export function isRefusal(error: unknown): boolean {
  return REFUSED.has(codeOf(error) ?? '');
}

/** Whether one place cannot be read, while others can. */
export function isSkippable(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (code === 'missing_scope' || whyOf(code) === 'never');
}

/** Slack's word for what is wrong. What is no word of Slack's may be anything, and is not repeated. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof WebAPIPlatformError)) return undefined;
  const { error: code } = error.data as { error: unknown };
  return typeof code === 'string' && /^[a-z][a-z0-9_]{1,63}$/.test(code) ? code : undefined;
}

/** What a scope that is missing is called. */
function neededOf(error: unknown): string {
  if (!(error instanceof WebAPIPlatformError)) return '';
  const { needed } = error.data as { needed?: unknown };
  return typeof needed === 'string' && /^[a-z:.,_]{1,120}$/.test(needed) ? ` (${needed})` : '';
}

function whyOf(code: string): NotSent['why'] {
  if (UNCLEAR.has(code)) return 'unknown';
  // A refused token may be replaced, and then the answer still goes out.
  return REFUSED.has(code) || LATER.has(code) ? 'again' : 'never';
}

/** Slack's own answers are 200 and 429; others come from whoever stands in between. */
function whyOfStatus(status: number): NotSent['why'] {
  if (status === 503) return 'again';
  return status >= 500 ? 'unknown' : 'never';
}

function causeOf(error: unknown): unknown {
  return error instanceof WebAPIRequestError ? error.original : error;
}
