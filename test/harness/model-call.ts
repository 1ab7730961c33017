import type {
  ContentPart,
  ModelCallOptions,
  ModelEvent,
  ModelMessage,
  ModelRequest,
} from '../../src/areas/models/model-provider.port.js';

export function userMessage(text: string, ...parts: ContentPart[]): ModelMessage {
  return { role: 'user', parts: [{ type: 'text', text }, ...parts] };
}

export function modelRequest(
  messages: readonly ModelMessage[],
  more: Partial<ModelRequest> = {},
): ModelRequest {
  return { model: 'test-model', system: 'Be brief.', messages, tools: [], maxOutputTokens: 512, ...more };
}

export function callOptions(more: Partial<ModelCallOptions> = {}): ModelCallOptions {
  return {
    signal: new AbortController().signal,
    firstByteTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    ...more,
  };
}

export async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

export function textOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'token' ? event.text : '')).join('');
}

export function callsOf(events: readonly ModelEvent[]): Extract<ModelEvent, { type: 'tool_call' }>['call'][] {
  return events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
}

/** The only `end` event, which must be the last event. */
export function endOf(events: readonly ModelEvent[]): Extract<ModelEvent, { type: 'end' }> {
  const ends = events.filter((event) => event.type === 'end');
  const [end] = ends;
  if (end === undefined || ends.length > 1 || events.at(-1) !== end)
    throw new Error('The stream did not end once.');
  return end;
}

/** What the promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It was expected to fail.');
    },
    (error: unknown) => error,
  );
}
