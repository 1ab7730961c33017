import { isIP } from 'node:net';
import { withoutEndSlashes } from '../../common/text/without-end-slashes.js';

/** Where the gateway is that a command asks, and as whom. */
export interface RemoteGateway {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string | undefined;
}

const TIMEOUT_MS = 30_000;
/** More is not read of an answer. */
const MAX_ANSWER_CHARACTERS = 64 * 1024 * 1024;

/** The gateway cannot be asked, or refused; the message says what to do. */
export class RemoteFailure extends Error {
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
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
  const { protocol, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLoopback = host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  return protocol === 'http:' && !isLoopback;
}

/** One gateway over HTTP. Every request is timed out; redirects are refused, so that the token goes nowhere else. */
export class GatewayClient {
  constructor(private readonly gateway: RemoteGateway) {}

  get<Body>(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<Body> {
    const given = Object.entries(query).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value]],
    );
    const search =
      given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][]).toString()}`;
    return this.send<Body>('GET', path + search);
  }

  post<Body>(path: string, body?: object): Promise<Body> {
    return this.send<Body>('POST', path, body);
  }

  delete(path: string): Promise<unknown> {
    return this.send('DELETE', path);
  }

  /** Items of a list of the operators' API, at most `most`, over as many pages as it takes. */
  async items<Item>(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    most: number,
  ): Promise<readonly Item[]> {
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

  /** The answer as it comes, for streams; ends with the signal. */
  async stream(path: string, signal: AbortSignal): Promise<Response> {
    const answer = await this.fetched('GET', path, { signal, headers: { accept: 'text/event-stream' } });
    if (!answer.ok) throw await this.refusal(answer);
    return answer;
  }

  /** The stream that answers a POST; ends with the signal. What is refused before throws `RemoteFailure`. */
  async postStream(path: string, body: object, signal: AbortSignal): Promise<Response> {
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const answer = await this.fetched('POST', path, { signal, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw await this.refusal(answer);
    return answer;
  }

  /** When the gateway says it is, by its clock. */
  async clock(): Promise<Date | undefined> {
    const { headers } = await this.fetched('GET', '/', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const date = headers.get('date');
    return date === null ? undefined : new Date(date);
  }

  /** For the WebSocket of a session. */
  socketOf(sessionId: string): { readonly url: string; readonly protocols: string[] } {
    const { url, token } = this.gateway;
    const protocols = ['gateway.v1', ...(token === undefined ? [] : [`bearer.${token}`])];
    return { url: `${url.replace(/^http/, 'ws')}/ws/sessions/${encodeURIComponent(sessionId)}`, protocols };
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
    const message = messageIn(await answer.text().catch(() => ''));
    const { status } = answer;
    if (status === 401)
      return new RemoteFailure(
        'The gateway does not know this token. Set AGENT_GATEWAY_TOKEN (or --token) to one that "agent-gateway auth token create" made.',
        status,
      );
    return new RemoteFailure(message ?? `The gateway answered ${status}.`, status);
  }
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
