import type { components } from './generated/profile-b.js';
import { refusal } from './request-error.js';
import { backOffMs, type ClientOptions, pause, retryingFetch } from './retrying-fetch.js';

type Schemas = components['schemas'];

interface EventData {
  token: Schemas['TokenEvent'];
  /** A piece of what the model thinks; no part of the answer. */
  reasoning: Schemas['ReasoningEvent'];
  tool_call: Schemas['ToolCallEvent'];
  tool_approval: Schemas['ToolApprovalEvent'];
  tool_result: Schemas['ToolResultEvent'];
  /** What was shown of the turn is void, and follows again. */
  restarted: Schemas['RestartedEvent'];
  done: Schemas['DoneEvent'];
  error: { readonly error: { readonly code: string; readonly message: string; readonly details?: unknown } };
}

/** One event of a turn. Another kind, of a later version, comes with the type `other`. */
export type TurnEvent =
  | {
      [Type in keyof EventData]: { readonly type: Type; readonly id: string; readonly data: EventData[Type] };
    }[keyof EventData]
  | { readonly type: 'other'; readonly name: string; readonly id: string; readonly data: unknown };

export interface StreamOptions {
  readonly signal?: AbortSignal;
  /** The id of the last event that was seen, to go on after it. */
  readonly lastEventId?: string;
  /** Of the message; a new one unless given. */
  readonly idempotencyKey?: string;
}

const KINDS = 'token reasoning tool_call tool_approval tool_result restarted done error'.split(' ');
const MAX_FRUITLESS = 8;

/** Streams of turns that survive lost connections and replicas: they go on after the last event that came. */
export class TurnStreams {
  private readonly fetch: (request: Request) => Promise<Response>;

  constructor(private readonly options: ClientOptions) {
    this.fetch = retryingFetch(options);
  }

  /** Sends a message and yields the events of its turn, the last one `done` or `error`. The message is sent once, however often the connection breaks. */
  async *send(
    sessionId: string,
    message: Schemas['SendMessageRequest'],
    { idempotencyKey = crypto.randomUUID(), ...options }: StreamOptions = {},
  ): AsyncGenerator<TurnEvent, void, undefined> {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
    const init = { method: 'POST', body: JSON.stringify(message), headers };
    for await (const event of this.events(sessionId, init, options)) {
      yield event;
      if (event.type === 'done' || event.type === 'error') return;
    }
  }

  /** Yields the events of the running turn and of every later one, until the signal is aborted or the loop is left. */
  watch(sessionId: string, options: StreamOptions = {}): AsyncGenerator<TurnEvent, void, undefined> {
    return this.events(sessionId, { method: 'GET', headers: {} }, options);
  }

  private async *events(
    sessionId: string,
    init: RequestInit & { readonly headers: Record<string, string> },
    { signal, lastEventId: from }: StreamOptions,
  ): AsyncGenerator<TurnEvent, void, undefined> {
    let lastEventId = from;
    for (let fruitless = 0; ; fruitless += 1) {
      const resume = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
      const headers = { ...init.headers, ...resume, Accept: 'text/event-stream' };
      const url = `${this.options.baseUrl}/api/v1/sessions/${encodeURIComponent(sessionId)}/messages`;
      const response = await this.fetch(new Request(url, { ...init, headers, signal: signal ?? null }));
      if (!response.ok || response.body === null) throw await refusal(response);
      try {
        for await (const { name, id, data } of parsed(response.body)) {
          const event = data === undefined ? undefined : (JSON.parse(data) as unknown);
          // The replica stops, and another one goes on with the turn after what came before.
          if (name === 'error' && reasonOf(event) === 'turn_handed_over') break;
          lastEventId = id ?? lastEventId;
          if (event === undefined) continue;
          fruitless = 0;
          yield eventOf(name, lastEventId ?? '', event);
        }
      } catch (error) {
        if (signal?.aborted === true || fruitless >= MAX_FRUITLESS) throw error;
      }
      if (fruitless >= MAX_FRUITLESS) throw new Error('The stream ended again and again without an event.');
      await pause(backOffMs(fruitless), signal);
    }
  }
}

function reasonOf(event: unknown): string | undefined {
  return (event as { error?: { details?: { reason?: string } | null } } | undefined)?.error?.details?.reason;
}

function eventOf(name: string, id: string, data: unknown): TurnEvent {
  return (KINDS.includes(name) ? { type: name, id, data } : { type: 'other', name, id, data }) as TurnEvent;
}

/** Without data: the first lines, which hold an id only. */
type Block = Readonly<Record<'id' | 'data', string | undefined> & { name: string }>;

/** Server-Sent Events, and before them the id that stands alone at the beginning. */
async function* parsed(body: ReadableStream<Uint8Array>): AsyncGenerator<Block, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let fields = new Map<string, string>();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, name = '', text = ''] = /^(\w*): ?(.*?)\r?$/.exec(line) ?? [];
        if (name !== '') fields.set(name, text);
        const isAlone = name === 'id' && !fields.has('data') && !fields.has('event');
        if (line.trim() !== '' && !isAlone) continue;
        const [event = 'message', id, data] = ['event', 'id', 'data'].map((key) => fields.get(key));
        fields = new Map();
        yield { name: event, id, data };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
