import { eventually } from './eventually.js';
import type { TestGateway } from './gateway.js';
import { wires } from './provider-wires.js';
import { beginStream, type Script, type ScriptedProvider } from './scripted-provider.js';

export interface Frame {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** A reader of Server-Sent Events over fetch, which can also send a body. */
export class TurnStream {
  readonly frames: Frame[] = [];
  text = '';
  ended = false;
  private rest = '';

  private constructor(
    readonly response: Response,
    private readonly abort: AbortController,
  ) {}

  static async open(
    url: string,
    token: string,
    { body, headers = {} }: { body?: object; headers?: Record<string, string> } = {},
  ): Promise<TurnStream> {
    const abort = new AbortController();
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: abort.signal,
    });
    const stream = new TurnStream(response, abort);
    void stream.readAll().catch(() => undefined);
    return stream;
  }

  of(event: string): Frame[] {
    return this.frames.filter((frame) => frame.event === event);
  }

  /** The text of all tokens so far. */
  said(): string {
    return this.of('token')
      .map(({ data }) => String(data['content']))
      .join('');
  }

  async until(event: string, count = 1, timeoutMs?: number): Promise<void> {
    await eventually(() => {
      if (this.of(event).length < count)
        throw new Error(`${this.of(event).length} of ${count} ${event} frames: ${this.text.slice(-500)}`);
    }, timeoutMs);
  }

  async untilSaid(text: string): Promise<void> {
    await eventually(() => {
      if (!this.said().includes(text)) throw new Error(`"${text}" was not said: ${this.said().slice(-200)}`);
    });
  }

  async untilEnded(): Promise<void> {
    await eventually(() => {
      if (!this.ended) throw new Error('the stream has not ended');
    });
  }

  close(): void {
    this.abort.abort();
  }

  private async readAll(): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of this.response.body ?? [])
        this.take(decoder.decode(chunk as Uint8Array, { stream: true }));
    } finally {
      this.ended = true;
    }
  }

  private take(text: string): void {
    this.text += text;
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]),
      );
      const data = fields.get('data');
      if (data === undefined) continue;
      this.frames.push({
        id: fields.get('id') ?? '',
        event: fields.get('event') ?? '',
        data: JSON.parse(data) as Frame['data'],
      });
    }
  }
}

/** The environment of a gateway that uses a scripted provider. */
export function providerEnv(provider: Pick<ScriptedProvider, 'url'>): Record<string, string> {
  return {
    GATEWAY__PROVIDER__KIND: 'openai',
    GATEWAY__PROVIDER__API_KEY: 'key-of-a-scripted-provider',
    GATEWAY__PROVIDER__BASE_URL: `${provider.url}/v1`,
    GATEWAY__PROVIDER__MODEL: 'm',
  };
}

export interface HeldAnswer {
  readonly script: Script;
  /** Sends another piece of the answer. */
  say(text: string): void;
  finish(): void;
  /** Whether the gateway has closed the connection. */
  isCut(): boolean;
}

/** An answer that the test sends piece by piece. */
export function heldAnswer(): HeldAnswer {
  const wire = wires[0];
  if (wire === undefined) throw new Error('There is no wire.');
  const said: string[] = [];
  let response: Parameters<Script>[0] | undefined;
  let cut = false;
  return {
    script: (given) => {
      response = given;
      given.on('close', () => {
        cut = !given.writableFinished;
      });
      beginStream(given, ...wire.opening, ...said.map((text) => wire.text(text)));
    },
    say: (text) => {
      said.push(text);
      if (response !== undefined) beginStream(response, wire.text(text));
    },
    finish: () => {
      if (response === undefined) throw new Error('Nobody asked yet.');
      beginStream(response, ...wire.closing);
      response.end();
    },
    isCut: () => cut,
  };
}

export async function newSession(gateway: TestGateway): Promise<string> {
  const { status, body, text } = await gateway.b.post<{ id: string }>('/sessions', {});
  if (status !== 201) throw new Error(`No session was made: ${status} ${text}`);
  return body.id;
}
