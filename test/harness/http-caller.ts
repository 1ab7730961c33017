import type { DocumentedAnswers } from './documented.js';

export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

/** A caller with one base URL and one token. Parses JSON bodies. */
export class HttpCaller {
  constructor(
    readonly base: string,
    readonly token: string | undefined,
    /** Checks every JSON response against the API documents; an undocumented one is an error. */
    private readonly documented?: DocumentedAnswers,
  ) {}

  get<Body>(path: string, headers: Record<string, string> = {}): Promise<Answer<Body>> {
    return this.send<Body>('GET', path, { headers });
  }

  post<Body>(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer<Body>> {
    return this.send<Body>('POST', path, { body, headers });
  }

  patch<Body>(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer<Body>> {
    return this.send<Body>('PATCH', path, { body, headers });
  }

  delete<Body>(path: string, headers: Record<string, string> = {}): Promise<Answer<Body>> {
    return this.send<Body>('DELETE', path, { headers });
  }

  /** `body` is sent as JSON, `raw` unchanged. */
  async send<Body>(
    method: string,
    path: string,
    {
      body,
      raw,
      headers = {},
    }: { body?: unknown; raw?: string | Buffer; headers?: Record<string, string> } = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(this.base + path, {
      method,
      headers: {
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(raw === undefined ? {} : { body: raw as RequestInit['body'] }),
    } as RequestInit);
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') === true && text !== '';
    const parsed: unknown = json ? JSON.parse(text) : text;
    const { pathname } = new URL(this.base + path);
    const problem = json && this.documented?.problem(method, pathname, response.status, parsed);
    if (typeof problem === 'string') throw new Error(problem);
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: parsed as Body,
    };
  }
}
