/** The gateway's error, read from the envelope of either profile. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly reason: string | undefined,
    readonly retryAfterSecs: number | undefined,
    readonly requestId: string | undefined,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Answer<Body> {
  readonly body: Body;
  readonly etag: string | undefined;
}

/** Calls the gateway that served this page, with the token of the signed-in person. */
export interface Api {
  readonly token: string;
  get<Body>(path: string, query?: Query, signal?: AbortSignal): Promise<Body>;
  read<Body>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer<Body>>;
  send<Body>(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Body>;
  /** The lines of an event stream. Ends when the stream does; rejects when the stream could not be opened. */
  events(path: string, query: Query, signal: AbortSignal): AsyncGenerator<ServerEvent>;
}

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

const TIMEOUT_MS = 30_000;

/** @param onUnauthorized called when the token is refused: it expired or was revoked */
export function createApi(token: string, onUnauthorized: () => void): Api {
  const call = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${token}`);
    const response = await reach(path, { ...init, headers });
    if (response.ok) return response;
    if (response.status === 401) onUnauthorized();
    throw await errorOf(response);
  };
  const read = async <Body>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer<Body>> => {
    const limits = [AbortSignal.timeout(TIMEOUT_MS), ...(signal === undefined ? [] : [signal])];
    const response = await call(withQuery(path, query), { signal: AbortSignal.any(limits) });
    return { body: (await response.json()) as Body, etag: response.headers.get('ETag') ?? undefined };
  };
  return {
    token,
    read,
    get: async <Body>(path: string, query?: Query, signal?: AbortSignal) =>
      (await read<Body>(path, query, signal)).body,
    send: async <Body>(
      method: string,
      path: string,
      body?: unknown,
      headers?: Readonly<Record<string, string>>,
    ) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const init = { method, signal, headers: { ...json, ...headers } };
      const response = await call(path, body === undefined ? init : { ...init, body: JSON.stringify(body) });
      return (response.status === 204 ? undefined : await response.json()) as Body;
    },
    async *events(path, query, signal) {
      const headers = { Accept: 'text/event-stream' };
      const response = await call(withQuery(path, query), { signal, headers });
      if (response.body !== null) yield* eventsOf(response.body);
    },
  };
}

/** Exchanges the code of a sign-in link for a token. */
export async function exchangeCode(code: string): Promise<{ token: string; id: string }> {
  const headers = { Authorization: `Sign-In-Code ${code}` };
  const response = await reach('/admin/v1/console/sign-in', { method: 'POST', headers });
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as { token: string; id: string };
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: 'omit', cache: 'no-store' });
  } catch (error) {
    if (init.signal?.aborted === true && !(init.signal.reason instanceof DOMException)) throw error;
    const reason = error instanceof DOMException && error.name === 'AbortError' ? 'aborted' : 'unreachable';
    throw new ApiError(
      0,
      'The gateway does not answer. Is it running, and is the network up?',
      reason,
      undefined,
      undefined,
    );
  }
}

interface Envelope {
  readonly error?: { readonly message?: string; readonly details?: { readonly reason?: string } | null };
}

async function errorOf(response: Response): Promise<ApiError> {
  const { error } = (await response.json().catch(() => ({}))) as Envelope;
  const retryAfter = response.headers.get('Retry-After');
  return new ApiError(
    response.status,
    error?.message ?? `The gateway answered with the status ${response.status}.`,
    error?.details?.reason,
    retryAfter === null ? undefined : Number(retryAfter),
    response.headers.get('X-Request-Id') ?? undefined,
  );
}

function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  const reader = body.pipeThrough(decoder).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      yield* blocks.map(eventOf).filter((event) => event !== undefined);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): ServerEvent | undefined {
  const lines = block.split('\n');
  const valuesOf = (field: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).replace(/^ /, ''));
  const data = valuesOf('data').join('\n');
  return data === '' ? undefined : { event: valuesOf('event')[0] ?? 'message', data };
}
