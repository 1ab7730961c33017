import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import {
  type Judgement,
  type JudgingModel,
  type SentRequest,
  startJudgingModel,
} from '../harness/judging-model.js';
import { asking, McpBench, serverB, shared, type ToolCallView } from '../harness/mcp.js';

let bench: McpBench;
let model: JudgingModel;
let gateway: TestGateway;

/** Calls the tool that it was told to, and answers what a tool asks. */
function judge({ messages, system }: SentRequest): Judgement {
  const { text = '', results = [] } = messages.at(-1) ?? {};
  if (system === 'You rhyme.') return { text: `rhymes with ${text}` };
  if (results.length > 0 || !text.startsWith('call')) return { text: 'Done.' };
  const [, name = '', args = '{}'] = /^call (\S+) (.+)$/s.exec(text) ?? [];
  return { calls: [{ id: 'call_1', name, arguments: JSON.parse(args) as Record<string, unknown> }] };
}

beforeAll(async () => {
  const mark = `sampling-${process.pid}`;
  bench = await McpBench.make({
    rhymes: { ...asking(`${mark}-on`), sampling: true },
    folders: { ...asking(`${mark}-roots`), roots: true },
    bare: { ...shared(asking(`${mark}-bare`)), roots: true },
    off: asking(`${mark}-off`),
  });
  model = await startJudgingModel('openai', judge);
  gateway = await startTestGateway({ env: { ...bench.env, ...model.env } });
  await eventually(async () => {
    for (const name of ['rhymes', 'folders', 'bare', 'off'])
      expect((await serverB(gateway, name))?.status).toBe('connected');
  }, 90_000);
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
  await bench.clear();
});
beforeEach(() => {
  model.requests.length = 0;
});

const PARAMS = {
  systemPrompt: 'You rhyme.',
  messages: [{ role: 'user', content: { type: 'text', text: 'house' } }],
  maxTokens: 50,
  includeContext: 'allServers',
};

interface Answer {
  readonly tool_calls: readonly ToolCallView[];
}

/** @returns what the server received */
async function call(tool: string, args: object) {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
  const content = `call ${tool} ${JSON.stringify(args)}`;
  const answer = await gateway.b.post<Answer>(`/sessions/${body.id}/messages`, { content });
  expect(answer.status).toBe(200);
  const output = answer.body.tool_calls[0]?.output ?? '';
  return { output, sessionId: body.id };
}
const sample = (params: object, tool = 'rhymes__request') =>
  call(tool, { method: 'sampling/createMessage', params });

describe('roots', () => {
  test('are the folders of the server, declared only where there are some', async () => {
    expect((await call('folders__declared', {})).output).toContain('"roots":{}');
    const { output } = await call('folders__request', { method: 'roots/list', params: {} });
    const { roots } = JSON.parse(output) as { roots: { uri: string }[] };
    expect(roots).toHaveLength(1);
    expect(roots[0]?.uri).toMatch(new RegExp(`^file://${bench.stateFolder}/folders/[0-9a-f]{40}$`));
    for (const tool of ['bare__declared', 'off__declared'])
      expect((await call(tool, {})).output).not.toContain('roots');
  });
});

describe('sampling', () => {
  test('is off by default, and not declared', async () => {
    expect((await call('off__declared', {})).output).not.toContain('sampling');
    expect((await sample(PARAMS, 'off__request')).output).toContain('-32601');
    expect(model.requests.some(({ system }) => system === 'You rhyme.')).toBe(false);
  });

  test('asks the model of the turn, with nothing of the conversation, and its usage is that of the turn', async () => {
    expect((await call('rhymes__declared', {})).output).toContain('"sampling":{}');
    model.requests.length = 0;
    const { output, sessionId } = await sample(PARAMS);
    expect(JSON.parse(output)).toMatchObject({
      role: 'assistant',
      content: { type: 'text', text: 'rhymes with house' },
      stopReason: 'endTurn',
    });
    const own = model.requests.find(({ system }) => system === 'You rhyme.');
    expect(own?.tools).toEqual([]);
    expect(own?.messages.map(({ text }) => text)).toEqual(['house']);
    expect(model.requests).toHaveLength(3);
    const inputs = model.requests.map(({ body }) => Math.ceil(JSON.stringify(body).length / 4));
    const { body } = await gateway.b.get<{ token_usage: { input: number } }>(`/sessions/${sessionId}`);
    expect(body.token_usage.input).toBe(inputs.reduce((sum, input) => sum + input, 0));
  });

  test.each([
    ['tools', { tools: [{ name: 'x', inputSchema: { type: 'object' } }] }],
    [
      'sounds',
      { messages: [{ role: 'user', content: { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' } }] },
    ],
    [
      'a picture that is none',
      { messages: [{ role: 'user', content: { type: 'image', mimeType: 'image/png', data: 'AAAA' } }] },
    ],
    ['no message', { messages: [] }],
    ['a last word of its own', { messages: [{ role: 'assistant', content: { type: 'text', text: 'x' } }] }],
    ['no room', { maxTokens: 0 }],
  ])('%s is refused, and the server is told why', async (_what, more) => {
    const { output } = await sample({ ...PARAMS, ...more });
    expect(output).toContain('The model cannot be asked this');
    expect(model.requests.some(({ system }) => system === 'You rhyme.')).toBe(false);
  });

  test('a budget that the turn has used up ends it', async () => {
    const prices = { 'prices."default/m".input': 1_000_000, 'prices."default/m".output': 1 };
    expect((await gateway.b.patch('/config', { ...prices, 'limits.all.daily_usd': 0.01 })).status).toBe(200);
    const { body } = await gateway.b.post<{ id: string }>('/sessions', {});
    const content = `call rhymes__request ${JSON.stringify({ method: 'sampling/createMessage', params: PARAMS })}`;
    const { status } = await gateway.b.post(`/sessions/${body.id}/messages`, { content });
    expect(status).toBe(429);
    expect(model.requests).toHaveLength(1);
  });
});
