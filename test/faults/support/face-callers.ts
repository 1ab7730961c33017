import { setTimeout as sleep } from 'node:timers/promises';
import { TaskState } from '@a2a-js/sdk';
import OpenAI from 'openai';
import { a2aClient, askA2a, textOf } from '../../harness/a2a.js';

/** Until a message has its answer, whatever happens to replicas. */
const DEFINITE_MS = 90_000;

/**
 * Asks a message at one face. It is repeated with the same key until there is an answer; undefined means "ask again".
 */
type Ask = (base: string, token: string, key: string) => Promise<string | undefined>;

async function posted(
  url: string,
  token: string,
  body: object,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, text: await response.text() };
}

/**
 * Responses after which every client tries again: a busy key, a full or stopping replica, a gateway without its
 * database.
 */
function isLater(status: number): boolean {
  return status === 409 || status === 429 || (status >= 502 && status <= 504);
}

/** How people and programs ask at each face, as its page in docs/ says. */
export const FACES: Readonly<Record<string, Ask>> = {
  rest: async (base, token, key) => {
    const made = await posted(`${base}/sessions`, token, {}, { 'idempotency-key': `${key}-session` });
    if (isLater(made.status)) return undefined;
    if (made.status !== 201) throw new Error(`${made.status}: ${made.text}`);
    const { id } = JSON.parse(made.text) as { id: string };
    const { status, text } = await posted(
      `${base}/sessions/${id}/messages`,
      token,
      { content: key },
      { 'idempotency-key': key },
    );
    if (isLater(status) || status === 202) return undefined;
    if (status !== 200) throw new Error(`${status}: ${text}`);
    return (JSON.parse(text) as { content: string }).content;
  },
  responses: async (base, token, key) => {
    const client = new OpenAI({ apiKey: token, baseURL: new URL('/v1', base).href, maxRetries: 0 });
    try {
      const response = await client.responses.create(
        { model: 'default', input: key },
        { headers: { 'Idempotency-Key': key } },
      );
      return response.status === 'completed' ? response.output_text : undefined;
    } catch (error) {
      if (error instanceof OpenAI.APIError && error.status !== undefined && !isLater(Number(error.status)))
        throw error;
      return undefined;
    }
  },
  a2a: async (base, token, key) => {
    const client = await a2aClient(base, token);
    const task = await askA2a(client, key, { messageId: key });
    const state = task.status?.state;
    if (state === TaskState.TASK_STATE_COMPLETED) return textOf(task);
    if (state === TaskState.TASK_STATE_WORKING || state === TaskState.TASK_STATE_SUBMITTED) return undefined;
    throw new Error(`the task is ${JSON.stringify(task.status)}`);
  },
  mcp: async (base, token, key) => {
    const call = {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'ask_default', arguments: { message: key } },
    };
    const { status, text } = await posted(new URL('/mcp', base).href, token, call, {
      ...{ 'idempotency-key': key, 'mcp-protocol-version': '2025-06-18' },
      accept: 'application/json, text/event-stream',
    });
    if (isLater(status)) return undefined;
    if (status !== 200) throw new Error(`${status}: ${text}`);
    const messages = text.startsWith('{')
      ? [text]
      : [...text.matchAll(/^data: ?(\{.*\})\r?$/gm)].map(([, data = '{}']) => data);
    const answer = messages
      .map(
        (one) =>
          JSON.parse(one) as {
            id?: number;
            result?: { isError?: boolean; structuredContent?: { content: string }; content: object };
            error?: object;
          },
      )
      .find(({ id }) => id === 1);
    // The stream was cut: the same key gets the answer.
    if (answer === undefined) return undefined;
    const { result } = answer;
    if (result === undefined || result.isError === true) throw new Error(JSON.stringify(answer));
    return result.structuredContent?.content;
  },
};

/**
 * Asks at any replica until there is an answer. A lost connection has no definite outcome, so the request is
 * repeated.
 */
export async function askUntilAnswered(
  face: string,
  ask: Ask,
  key: string,
  token: string,
  any: () => string | undefined,
): Promise<string> {
  const deadline = performance.now() + DEFINITE_MS;
  let last: unknown = 'no replica was there';
  while (performance.now() < deadline) {
    const base = any();
    try {
      const answer = base === undefined ? undefined : await ask(base, token, key);
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
      if (!isLost(error)) throw new Error(`${face} refused "${key}": ${String(error)}`, { cause: error });
    }
    await sleep(100);
  }
  throw new Error(`${face} had no answer to "${key}" within ${DEFINITE_MS} ms: ${String(last)}`);
}

/** Whether the connection was cut, refused, or closed by a gateway that stops. */
function isLost(error: unknown): boolean {
  const text = `${String(error)} ${String((error as { cause?: unknown }).cause)}`;
  return /fetch failed|terminated|ECONN|EPIPE|socket|other side closed|aborted|timeout|\b50[234]\b|\b429\b|\b409\b/i.test(
    text,
  );
}
