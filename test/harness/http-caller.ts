export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

/** A caller of one base URL with one token. Bodies are parsed when they are JSON. */
export class HttpCaller {
  constructor(
    readonly base: string,
    readonly token: string | undefined,
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

  /** `body` is sent as JSON; `raw` as it is. */
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
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (json ? JSON.parse(text) : text) as Body,
    };
  }
}
