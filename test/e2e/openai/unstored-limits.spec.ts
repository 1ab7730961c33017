import type OpenAI from 'openai';
import {
  anthropicEnv,
  type CountingProvider,
  startCountingProvider,
} from '../../harness/counting-provider.js';
import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import { openAiClient, refusalOf } from '../../harness/openai-face.js';
import { beginStream } from '../../harness/scripted-provider.js';

/** Each call costs a cent: 1,000 input tokens at 10 dollars a million. */
const CALL_USD = 0.01;

let provider: CountingProvider;
let gateway: TestGateway;
const release = new Map<string, () => void>();

beforeAll(async () => {
  provider = await startCountingProvider((body) => {
    const said = JSON.stringify(body['messages']);
    return {
      plain: 1000,
      output: 5,
      ...(said.includes('hold') && !said.includes('held') && { tool: 'hold' }),
    };
  });
  gateway = await startTestGateway({ env: anthropicEnv(provider) });
  gateway.tools.register({
    name: 'hold',
    description: 'Waits until the test lets go.',
    inputSchema: { type: 'object' },
    run: (_args, { userId }) => new Promise((resolve) => release.set(userId, () => resolve('held'))),
  });
  await set({ 'prices."default/m"': { input: 10, output: 0 } });
});
afterEach(() => set({ 'limits.turns_per_api_token': 0, 'limits.users': null }));
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

async function set(keys: Record<string, unknown>): Promise<void> {
  const { status, text } = await gateway.b.patch('/config', keys);
  expect([status, text]).toEqual([200, expect.any(String)]);
}

/** The parameter that clients still send, although the SDK has deprecated it. */
const as = (name: string): object => ({ user: name });

function say(client: OpenAI, user: string, content: string, signal?: AbortSignal) {
  const messages = [{ role: 'user' as const, content }];
  return client.chat.completions.create({ model: 'default', messages, ...as(user) }, { signal });
}

/** A request whose tool waits. */
async function holding(client: OpenAI, user: string) {
  const answer = say(client, user, 'hold');
  answer.catch(() => undefined);
  await eventually(() => expect(release.has(user)).toBe(true));
  return { answer, letGo: () => release.get(user)?.() };
}

test('a token may have a limited number of requests at once; the next is 429 until one ends', async () => {
  await set({ 'limits.turns_per_api_token': 1 });
  const client = openAiClient(gateway, await gateway.mint({ name: 'one at a time' }));
  const { answer, letGo } = await holding(client, 'ada');
  const refused = { status: 429, code: 'api_token_turns' };
  expect(await refusalOf(say(client, 'ada', 'Me too'))).toMatchObject(refused);
  const other = openAiClient(gateway, await gateway.mint({ name: 'another' }));
  await say(other, 'bob', 'Another token');
  letGo();
  await answer;
  await say(client, 'ada', 'Now');
  release.clear();
  const refusals: unknown[] = [];
  const many = Array.from({ length: 8 }, () =>
    say(client, 'ada', 'hold').catch((error: unknown) => void refusals.push(error)),
  );
  await eventually(() => expect([release.size, refusals.length]).toEqual([1, 7]));
  release.get('ada')?.();
  await Promise.all(many);
  expect(refusals).toHaveLength(7);
});

test('a budget that others use up meanwhile ends a request before its next call', async () => {
  await set({ 'limits.users.cal.daily_usd': 2 * CALL_USD });
  const client = openAiClient(gateway);
  const { answer, letGo } = await holding(client, 'cal');
  await say(client, 'cal', 'Hello');
  const calls = provider.counted.length;
  letGo();
  expect(await refusalOf(answer)).toMatchObject({ status: 429, code: 'budget_reached' });
  expect(provider.counted).toHaveLength(calls);
});

test('who leaves before the first word pays for the input that was counted', async () => {
  const leave = new AbortController();
  provider.script((response) => {
    const usage = { input_tokens: 777, output_tokens: 1 };
    const thinking = { type: 'thinking_delta', thinking: 'Let me think' };
    beginStream(
      response,
      { type: 'message_start', message: { model: 'm', usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: thinking },
    );
    setTimeout(() => leave.abort(), 300);
  });
  await expect(say(openAiClient(gateway), 'dora', 'Hello', leave.signal)).rejects.toThrow();
  await eventually(async () => {
    const { body } = await gateway.admin.get<{ items: Record<string, unknown>[] }>('/usage?by=user');
    expect(body.items).toContainEqual(
      expect.objectContaining({ user: 'dora', input_tokens: 777, output_tokens: 3 }),
    );
  });
});
