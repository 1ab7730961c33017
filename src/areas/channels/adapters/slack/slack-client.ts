import {
  type FetchFunction,
  type Logger,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
  type WebClientOptions,
} from '@slack/web-api';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';
import {
  ChannelRefused,
  ChannelUnreachable,
  connectionFailureOf,
  NotSent,
  sendFailureOf,
} from '../../channel-failures.js';

export const DEFAULT_ROOT = 'https://slack.com/api/';
/** More than a thousand messages of maximum length. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Slack sends Retry-After; a proxy in between may not. */
const DEFAULT_RETRY_SECS = '30';

export interface SlackAccess {
  readonly apiUrl: string;
  /** Time limit of one call. */
  readonly timeoutMs: number;
}

const nothing = (): void => undefined;

/** The library's log lines contain tokens and what people write. */
export const SILENT: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  getLevel: () => LogLevel.ERROR,
};

/** Slack's typed calls, ended by the signal. Created for each call: that is cheap, and the library has no signal per call. */
export function slackApi(
  outbound: OutboundClient,
  access: SlackAccess & { readonly token: string },
  signal: AbortSignal,
): WebClient {
  return new WebClient(access.token, { ...slackOptions(outbound, access, signal), logger: SILENT });
}

/** Options that send every call through the guarded client, bounded in time and size, and without retries: those are ours. */
export function slackOptions(
  outbound: OutboundClient,
  { apiUrl, timeoutMs }: SlackAccess,
  signal: AbortSignal,
): Omit<WebClientOptions, 'logger' | 'logLevel'> {
  return {
    slackApiUrl: apiUrl === '' ? DEFAULT_ROOT : apiUrl,
    allowAbsoluteUrls: false,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    fetch: guardedFetch(outbound, timeoutMs, signal),
  };
}

function guardedFetch(outbound: OutboundClient, timeoutMs: number, signal: AbortSignal): FetchFunction {
  return async (input, init = {}) => {
    const { status, headers, body } = await outbound.read({
      method: 'POST',
      url: String(input),
      headers: init.headers ?? {},
      body: typeof init.body === 'string' ? init.body : '',
      timeoutMs,
      maxBytes: MAX_RESPONSE_BYTES,
      signal,
    });
    const forwarded = new Headers();
    for (const [name, value] of Object.entries(headers)) {
      for (const one of [value ?? []].flat()) forwarded.append(name, one);
    }
    if (status === 429 && !forwarded.has('retry-after')) forwarded.set('retry-after', DEFAULT_RETRY_SECS);
    return {
      ok: status >= 200 && status < 300,
      status,
      statusText: '',
      url: String(input),
      headers: forwarded,
      text: () => Promise.resolve(body.toString('utf8')),
      json: () => Promise.resolve(JSON.parse(body.toString('utf8')) as unknown),
      arrayBuffer: () => Promise.resolve(Uint8Array.from(body).buffer),
    };
  };
}

/** Slack's errors for a token that it will not accept until an operator changes something. */
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
/** Slack did nothing; the call can be repeated later. */
const LATER = new Set([
  'ratelimited',
  'rate_limited',
  'service_unavailable',
  'team_added_to_org',
  'request_timeout',
]);
/** Slack may have carried out the call. */
const UNCLEAR = new Set(['internal_error', 'fatal_error']);
const SLACK = { name: 'Slack', address: "Slack's address" };

/** Why a call failed, for the supervisor. */
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
  return connectionFailureOf(SLACK, causeOf(error));
}

/** Why a reply was not sent, for the outbox. */
export function sendFailure(error: unknown): NotSent {
  const code = codeOf(error);
  if (code !== undefined) return new NotSent(whyOf(code), `Slack answered ${code}${neededOf(error)}`);
  if (error instanceof WebAPIRateLimitedError) {
    return new NotSent('retry', 'Slack answered 429', error.retryAfter * 1000);
  }
  if (error instanceof WebAPIHTTPError) {
    const { statusCode } = error;
    return new NotSent(whyOfStatus(statusCode), `Slack answered ${statusCode}`);
  }
  return sendFailureOf(SLACK, causeOf(error));
}

/** Whether Slack refused the credentials. */
export function isRefusal(error: unknown): boolean {
  return REFUSED.has(codeOf(error) ?? '');
}

/** Slack's errors for blocks that it will not show. */
const REFUSED_FORMS = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'msg_blocks_too_long',
  'msg_too_long',
]);

/** Whether Slack refused the form of a message, which may be sent without it. */
export function isRefusedForm(error: unknown): boolean {
  return REFUSED_FORMS.has(codeOf(error) ?? '');
}

/** Whether this conversation cannot be read, while others may be. */
export function isSkippable(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (code === 'missing_scope' || whyOf(code) === 'rejected');
}

/** Slack's error code. Anything that does not look like one is not repeated. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof WebAPIPlatformError)) return undefined;
  const { error: code } = error.data as { error: unknown };
  return typeof code === 'string' && /^[a-z][a-z0-9_]{1,63}$/.test(code) ? code : undefined;
}

/** The name of a missing scope. */
function neededOf(error: unknown): string {
  if (!(error instanceof WebAPIPlatformError)) return '';
  const { needed } = error.data as { needed?: unknown };
  return typeof needed === 'string' && /^[a-z:.,_]{1,120}$/.test(needed) ? ` (${needed})` : '';
}

function whyOf(code: string): NotSent['why'] {
  if (UNCLEAR.has(code)) return 'unknown';
  // A refused token may be replaced; the reply is then still sent.
  return REFUSED.has(code) || LATER.has(code) ? 'retry' : 'rejected';
}

/** Slack itself responds with 200 and 429; anything else comes from a proxy in between. */
function whyOfStatus(status: number): NotSent['why'] {
  if (status === 503) return 'retry';
  return status >= 500 ? 'unknown' : 'rejected';
}

function causeOf(error: unknown): unknown {
  return error instanceof WebAPIRequestError ? error.original : error;
}
