import { type FetchFunction, type Logger, LogLevel, WebClient, type WebClientOptions } from '@slack/web-api';
import type { OutboundClient } from '../../../../platform/outbound/outbound-client.js';

const DEFAULT_ROOT = 'https://slack.com/api/';
/** A thousand messages of the longest kind are fewer. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Slack says how long; whoever is in between may not. */
const DEFAULT_RETRY_SECS = '30';

export interface SlackAccess {
  readonly apiUrl: string;
  /** Longest call. */
  readonly timeoutMs: number;
}

const nothing = (): void => undefined;

/** What the library has to say holds tokens and what people write. */
export const SILENT: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  getLevel: () => LogLevel.ERROR,
};

/** Slack's typed calls until the signal: making them costs little, and the library knows no signal for a single one. */
export function slackApi(
  outbound: OutboundClient,
  access: SlackAccess & { readonly token: string },
  signal: AbortSignal,
): WebClient {
  return new WebClient(access.token, { ...slackOptions(outbound, access, signal), logger: SILENT });
}

/** Over the guarded client: no other way out, bounded in time and size, and tried once. Trying again is ours to say. */
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
      maxBytes: MAX_ANSWER_BYTES,
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
