/** Most of an error's body that is read, in bytes. */
const MAX_ERROR_BYTES = 16 * 1024;

/** Everything else that an SDK adds, from the environment or about this machine, stays here. */
const SENT_HEADERS = [
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'authorization',
  'content-type',
  'user-agent',
  'x-api-key',
];

/** The `fetch` the SDKs are given: known headers only, no redirects, bounded bodies of errors. */
export async function providerFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, headers: knownHeaders(init?.headers), redirect: 'manual' });
  return response.ok ? response : boundedCopy(response);
}

function knownHeaders(given: RequestInit['headers']): Headers {
  const all = new Headers(given);
  const known = new Headers();
  for (const name of SENT_HEADERS) {
    const value = all.get(name);
    if (value !== null) known.set(name, value);
  }
  return known;
}

async function boundedCopy(response: Response): Promise<Response> {
  const text = await beginningOf(response);
  return new Response(text === '' ? null : text, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
}

/** What of a body arrives within the bound; a body that breaks off is as good as a short one. */
async function beginningOf(response: Response): Promise<string> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (text.length < MAX_ERROR_BYTES) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return text;
  }
  void reader.cancel().catch(() => undefined);
  return text.slice(0, MAX_ERROR_BYTES);
}
