import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { withoutEndSlashes } from '../../common/text/without-end-slashes.js';
import { printable } from '../terminal-text.js';

/** The gateway that a command asks, and the token for it. */
export interface RemoteGateway {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string | undefined;
}

type Query = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 30_000;
/** A long list takes many requests, which may exceed a rate limit: it continues when the gateway says so. */
const MOST_WAITS = 5;
const LONGEST_WAIT_SECS = 10;
/** How much of a response is read at most. */
const MAX_ANSWER_CHARACTERS = 64 * 1024 * 1024;

/** The gateway cannot be asked, or refused; the message says what to do. */
export class RemoteFailure extends Error {
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
    readonly retryAfterSecs?: number,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The text as the address of a gateway. Throws `RemoteFailure` for anything else, and for one that has a user in it. */
export function gatewayUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '')
    throw new RemoteFailure(
      '--url (or AGENT_GATEWAY_URL) has to be an address such as https://gateway.example.com, without a user in it.',
    );
  return withoutEndSlashes(`${url.origin}${url.pathname}`);
}

/** Whether a token sent there can be read on the way. */
export function isExposed(url: string): boolean {
  return new URL(url).protocol === 'http:' && !isLoopback(url);
}

function isLoopback(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** One gateway over HTTP. Every request is timed out; redirects are refused, so that the token goes nowhere else. */
export class GatewayClient {
  constructor(private readonly gateway: RemoteGateway) {}

  get isOnThisMachine(): boolean {
    return isLoopback(this.gateway.url);
  }

  async get<Body>(path: string, query: Query = {}): Promise<Body> {
    const whole = withQuery(path, query);
    for (let waits = 0; ; waits += 1) {
      try {
        return await this.send<Body>('GET', whole);
      } catch (error) {
        if (!(error instanceof RemoteFailure) || error.status !== 429 || waits === MOST_WAITS) throw error;
        await sleep(Math.min(error.retryAfterSecs ?? 1, LONGEST_WAIT_SECS) * 1000);
      }
    }
  }

  post<Body>(path: string, body?: object): Promise<Body> {
    return this.send<Body>('POST', path, body);
  }

  delete(path: string): Promise<unknown> {
    return this.send('DELETE', path);
  }

  /** Items of a list of the operators' API, at most `most`, over as many pages as it takes. */
  async items<Item>(path: string, query: Query, most: number): Promise<readonly Item[]> {
    const found: Item[] = [];
    let cursor: string | undefined;
    do {
      const limit = String(Math.min(500, most - found.length));
      const page = await this.get<{ items: Item[]; next_cursor: string | null }>(path, {
        ...query,
        limit,
        cursor,
      });
      found.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && found.length < most);
    return found;
  }

  /** The response as it comes, for streams, after the event with this id; ends with the signal. */
  async stream(path: string, signal: AbortSignal, lastEventId?: string): Promise<Response> {
    const behind = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const headers = { accept: 'text/event-stream', ...behind };
    const answer = await this.fetched('GET', path, { signal, headers });
    if (!answer.ok) throw await this.refusal(answer);
    return answer;
  }

  /**
   * The stream that answers a POST; ends with the signal. Throws `RemoteFailure` when it is refused before it begins.
   */
  async postStream(path: string, body: object, signal: AbortSignal): Promise<Response> {
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const answer = await this.fetched('POST', path, { signal, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw await this.refusal(answer);
    return answer;
  }

  /** The gateway's time, by its own clock. */
  async clock(): Promise<Date | undefined> {
    const { headers } = await this.fetched('GET', '/', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const date = headers.get('date');
    return date === null ? undefined : new Date(date);
  }

  private async send<Body>(method: string, path: string, body?: object): Promise<Body> {
    const answer = await this.fetched(method, path, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw await this.refusal(answer);
    const text = await answer.text();
    if (text === '') return undefined as Body;
    if (text.length > MAX_ANSWER_CHARACTERS) throw new RemoteFailure('The answer is too large to be shown.');
    try {
      return JSON.parse(text) as Body;
    } catch {
      throw new RemoteFailure(`${this.gateway.url} does not answer as a gateway does: is the address right?`);
    }
  }

  private async fetched(
    method: string,
    path: string,
    init: { signal: AbortSignal; headers?: Record<string, string>; body?: string },
  ): Promise<Response> {
    const { url, token } = this.gateway;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    try {
      return await fetch(url + path, {
        ...init,
        method,
        redirect: 'error',
        headers: { accept: 'application/json', ...init.headers, ...authorization },
      });
    } catch (error) {
      throw new RemoteFailure(`The gateway at ${url} cannot be reached: ${reasonOf(error)}.`, undefined, {
        cause: error,
      });
    }
  }

  private async refusal(answer: Response): Promise<RemoteFailure> {
    const message = shownMessageIn(await answer.text().catch(() => ''));
    const { status } = answer;
    if (status === 401)
      return new RemoteFailure(
        'The gateway does not know this token. Set AGENT_GATEWAY_TOKEN (or --token) to one that "agent-gateway auth token create" made.',
        status,
      );
    const after = answer.headers.get('retry-after');
    return new RemoteFailure(
      message ?? `The gateway answered ${status}.`,
      status,
      undefined,
      after === null ? undefined : Number(after),
    );
  }
}

export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** It goes to a terminal, in one line. */
function shownMessageIn(text: string): string | undefined {
  const message = messageIn(text);
  return message === undefined ? undefined : printable(message.replaceAll('\n', ' '));
}

/** The sentence of an error envelope, of whichever profile. */
function messageIn(text: string): string | undefined {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
    return typeof message === 'string' ? message : typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  if (error.name === 'TimeoutError') return `it did not answer within ${TIMEOUT_MS / 1000} s`;
  return cause.message || code || error.message;
}
