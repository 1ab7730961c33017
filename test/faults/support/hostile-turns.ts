import { HttpCaller } from '../../harness/http-caller.js';
import { SocketClient } from '../../harness/socket-client.js';
import { TurnStream } from '../../harness/turn-stream.js';

export const WAYS = ['http', 'sse', 'websocket'] as const;
const END_MS = 60_000;
export type Way = (typeof WAYS)[number];

/** The definite outcome that a caller received. */
export interface Ending {
  readonly sessionId: string;
  /** Undefined when the error comes inside a stream. */
  readonly status: number | undefined;
  readonly reason: unknown;
  /** By `performance.now()`. */
  readonly saidAt: number;
  readonly at: number;
}

interface ErrorBody {
  readonly error?: { readonly details?: { readonly reason?: unknown } | null };
}

/** A caller of one gateway, Profile B, at its `/api/v1`. */
export class TurnCaller {
  private readonly caller: HttpCaller;

  constructor(
    private readonly base: string,
    private readonly token: string,
  ) {
    this.caller = new HttpCaller(base, token);
  }

  async session(): Promise<string> {
    return (await this.caller.post<{ id: string }>('/sessions', {})).body.id;
  }

  /** @returns how long a turn took, in milliseconds; throws when it is not answered */
  async talk(sessionId: string): Promise<number> {
    const startedAt = performance.now();
    const { status, text } = await this.caller.post(`/sessions/${sessionId}/messages`, { content: 'Hello' });
    if (status !== 200) throw new Error(`A turn was answered ${status}: ${text}`);
    return performance.now() - startedAt;
  }

  /** Runs a turn that must fail, in one of the three ways to ask. */
  async failingTurn(content: string, way: Way): Promise<Ending> {
    const sessionId = await this.session();
    const saidAt = performance.now();
    const { status, body } = await this[way](sessionId, content);
    return { sessionId, status, reason: body.error?.details?.reason, saidAt, at: performance.now() };
  }

  private http(sessionId: string, content: string): Promise<{ status?: number; body: ErrorBody }> {
    return this.caller.post<ErrorBody>(`/sessions/${sessionId}/messages`, { content });
  }

  private async sse(sessionId: string, content: string): Promise<{ status?: number; body: ErrorBody }> {
    const url = `${this.base}/sessions/${sessionId}/messages`;
    const stream = await TurnStream.open(url, this.token, { body: { content } });
    await stream.until('error', 1, END_MS);
    return { body: stream.of('error')[0]?.data as ErrorBody };
  }

  private async websocket(sessionId: string, content: string): Promise<{ status?: number; body: ErrorBody }> {
    const url = new URL(`/ws/sessions/${sessionId}`, this.base.replace('http', 'ws')).href;
    const client = await SocketClient.open(url, { headers: { authorization: `Bearer ${this.token}` } });
    client.send({ type: 'message', content });
    const body = (await client.until('error', 1, END_MS)) as ErrorBody;
    client.socket.terminate();
    return { body };
  }
}
