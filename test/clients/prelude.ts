// Shared by all drivers: counts responses as they arrive, whatever the client makes of them.
declare const process: {
  env: Record<string, string | undefined>;
  stdout: { write(text: string): void };
  exit(code: number): never;
};

/** The base URL in the generated code; replaced by that of the gateway, or of a proxy in front of it. */
export const BASE = 'http://gateway.test';
export const AUTHORIZATION = { Authorization: `Bearer ${process.env['TOKEN'] ?? ''}` };

const GATEWAY = process.env['GATEWAY'] ?? '';
const STREAM_MS = 400;
const ids: Record<string, string> = { channels_name: 'api', mcp_name: 'memory', plugins_name: 'measures' };
const problems: string[] = [];
let statuses: number[] = [];
let calls = 0;

const plainFetch = globalThis.fetch;
globalThis.fetch = async (input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> => {
  const request = new Request(input, init);
  const body = request.body === null ? undefined : await request.text();
  const response = await plainFetch(request.url.replace(BASE, GATEWAY), {
    method: request.method,
    headers: request.headers,
    ...(body === undefined ? {} : { body }),
  });
  statuses.push(response.status);
  const violations = response.headers.get('sl-violations');
  if (violations !== null) problems.push(`${request.method} ${request.url}: ${violations}`);
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) return looked(response);
  if (response.status === 201)
    remember(new URL(request.url).pathname, (await response.clone().json()) as object);
  return response;
};

/** Reads the beginning of a stream that does not end. */
async function looked(response: Response): Promise<Response> {
  const reader = response.body!.getReader();
  const timer = setTimeout(() => {
    reader.cancel().catch(() => undefined);
  }, STREAM_MS);
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  clearTimeout(timer);
  return new Response(text, { status: response.status, headers: response.headers });
}

function remember(path: string, body: object): void {
  const area = path.split('/').at(-1) ?? '';
  const { id, session_id } = body as { id?: string; session_id?: string };
  ids[`${area}_id`] = id ?? session_id ?? '';
}

export function made(what: string): string {
  const id = ids[what];
  if (id === undefined) throw new Error(`Nothing has made ${what} yet.`);
  return id;
}

export async function drained(started: Promise<{ stream: AsyncIterable<unknown> }>): Promise<void> {
  const events: unknown[] = [];
  for await (const event of (await started).stream) events.push(event);
}

export async function step(id: string, call: () => Promise<unknown>): Promise<void> {
  if (process.env['SKIP']?.split(',').includes(id) === true) return;
  statuses = [];
  calls += 1;
  try {
    await call();
  } catch (error) {
    problems.push(`${id}: ${String(error)}`);
  }
  if (statuses.length === 0 || statuses.some((status) => status >= 300))
    problems.push(`${id} was answered ${statuses.join(', ') || 'nothing'}`);
}

export function finish(): never {
  process.stdout.write(JSON.stringify({ calls, problems }));
  process.exit(problems.length === 0 ? 0 : 1);
}
