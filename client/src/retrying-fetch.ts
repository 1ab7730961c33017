/** What a client needs to know of its gateway. */
export interface ClientOptions {
  /** Such as `https://gateway.example.com`, without a path. */
  readonly baseUrl: string;
  /** An API token or a JWT; a function is asked before each attempt. */
  readonly token: string | (() => string | Promise<string>);
  /** Attempts after the first; 4 unless given. */
  readonly retries?: number;
  /** Told before each wait, in milliseconds. */
  readonly onRetry?: (reason: string, waitMs: number) => void;
  readonly fetch?: (request: Request) => Promise<Response>;
}

const RETRIES = 4;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 30_000;
const KEY = 'Idempotency-Key';

/**
 * `fetch` by the rules of docs/idempotency.md. A POST or PATCH gets an Idempotency-Key unless it has one, and is sent again
 * with it: when no answer came, and on 429, 503 and any 409 that says when to come back. GET needs no key. A DELETE is
 * repeated only when it was refused: one whose answer was lost may have been done. A 502 or 504 is the outcome of a turn, and
 * would be the same again.
 */
export function retryingFetch(options: ClientOptions): (request: Request) => Promise<Response> {
  const { retries = RETRIES, fetch: send = (request) => fetch(request) } = options;
  return async (request) => {
    const { method, headers, signal } = request;
    if ((method === 'POST' || method === 'PATCH') && !headers.has(KEY)) headers.set(KEY, crypto.randomUUID());
    for (let attempt = 0; ; attempt += 1) {
      const again = request.clone();
      again.headers.set('Authorization', `Bearer ${await tokenOf(options)}`);
      const isLast = attempt >= retries;
      let reason: string;
      let askedMs: number | undefined;
      try {
        const response = await whole(await send(again));
        askedMs = retryAfterMs(response);
        if (isLast || !isWorthAnother(response, askedMs)) return response;
        reason = `status ${response.status}`;
        await response.body?.cancel();
      } catch (error) {
        if (isLast || signal.aborted || method === 'DELETE') throw error;
        reason = String(error);
      }
      const waitMs = askedMs ?? backOffMs(attempt);
      options.onRetry?.(reason, waitMs);
      await pause(waitMs, signal);
    }
  };
}

/** Between the n-th failure and the next attempt: doubled each time, half of it by chance, so that clients do not come together. */
export function backOffMs(attempt: number): number {
  const most = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
  return most / 2 + (Math.random() * most) / 2;
}

/** Rejects with the signal's reason when it is aborted. */
export function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
  });
}

/** An answer that is cut within its JSON is one that did not come. */
async function whole(response: Response): Promise<Response> {
  if (response.headers.get('Content-Type')?.startsWith('application/json') !== true) return response;
  const { status, headers } = response;
  return new Response(await response.arrayBuffer(), { status, headers });
}

async function tokenOf({ token }: ClientOptions): Promise<string> {
  return typeof token === 'string' ? token : token();
}

function isWorthAnother({ status }: Response, askedMs: number | undefined): boolean {
  return status === 429 || status === 503 || (status === 409 && askedMs !== undefined);
}

function retryAfterMs({ headers }: Response): number | undefined {
  const sent = headers.get('Retry-After');
  return sent !== null && /^\d{1,6}$/.test(sent) ? Math.min(MAX_WAIT_MS, Number(sent) * 1000) : undefined;
}
