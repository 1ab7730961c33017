import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, published, scripted } from '../harness/mcp.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { saysOnEveryWire } from '../harness/three-models.js';
import { providerEnv } from '../harness/turn-stream.js';

interface PromptView {
  readonly command: string;
  readonly name: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
}
interface ServerView {
  readonly name: string;
  readonly status: string;
  readonly prompts: readonly PromptView[];
}

let bench: McpBench;
let provider: ScriptedProvider;
let gateway: TestGateway;
beforeAll(async () => {
  const servers = {
    all: published('everything'),
    bare: { ...published('everything'), prompts: false },
    narrow: { ...published('everything'), deny_tools: ['get_prompt'] },
    plain: scripted(`prompts-${process.pid}`),
  };
  bench = await McpBench.make(servers, '[tools.tokens.careful]\ndeny = ["all__get_*"]\n');
  provider = await startScriptedProvider();
  provider.script(saysOnEveryWire('Done.'));
  gateway = await startTestGateway({ env: { ...bench.env, ...providerEnv(provider) } });
  await eventually(async () => {
    for (const one of await listed()) expect(one.status).toBe('connected');
    expect((await promptsOf('all')).length).toBeGreaterThan(2);
  }, 90_000);
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await Promise.all([bench.clear(), provider.stop()]);
});

const listed = async () => (await gateway.admin.get<{ items: ServerView[] }>('/mcp/servers')).body.items;
const promptsOf = async (name: string) =>
  (await listed()).find((server) => server.name === name)?.prompts ?? [];

/** @returns what the model was given after this message */
async function asked(content: string, caller = gateway.a): Promise<string> {
  const made = await caller.post<{ session_id: string }>('/sessions', {});
  const answer = await caller.post(`/sessions/${made.body.session_id}/messages`, { content });
  expect(answer.status).toBe(200);
  return provider.requests.at(-1)?.text ?? '';
}

test('prompts are listed with what people write and their arguments; a server may have none', async () => {
  expect(await promptsOf('all')).toContainEqual(
    expect.objectContaining({
      command: '/all-args-prompt',
      name: 'args-prompt',
      arguments: [
        { name: 'city', description: 'Name of the city', required: true },
        { name: 'state', description: '', required: false },
      ],
    }),
  );
  for (const name of ['bare', 'narrow', 'plain']) expect(await promptsOf(name)).toEqual([]);
});

test('`/server-prompt arg…` gives the model the prompt, with its arguments, for this message only', async () => {
  expect(await asked('/all-simple-prompt please')).toContain('This is a simple prompt without arguments.');
  expect(await asked('> /all-simple-prompt\nWhat is that?')).not.toContain('simple prompt without');
  expect(await asked('/all-args-prompt Texas state=Hold')).toContain(`What's weather in Texas, Hold?`);
  const made = await gateway.a.post<{ session_id: string }>('/sessions', {});
  const path = `/sessions/${made.body.session_id}/messages`;
  await gateway.a.post(path, { content: '/all-args-prompt "San Juan"' });
  expect(provider.requests.at(-1)?.text).toContain('San Juan?');
  await gateway.a.post(path, { content: 'thanks' });
  expect(provider.requests.at(-1)?.text).not.toContain('San Juan?');
});

test('a missing argument and a prompt that cannot be had are told to the model', async () => {
  expect(await asked('/all-args-prompt')).toContain('which needs more: city (Name of the city). Ask for it.');
  expect(await asked('/all-resource-prompt Nonsense 1')).toMatch(/could not be had: .+ Say so\./);
});

test('under policy: what the rules of the token or the server forbid is not asked for', async () => {
  const careful = gateway.caller('a', await gateway.mint({ name: 'careful' }));
  expect(await asked('/all-simple-prompt', careful)).not.toContain('simple prompt without');
  for (const command of [
    '/bare-simple-prompt',
    '/narrow-simple-prompt',
    '/plain-simple-prompt',
    '/all-nothing',
  ])
    expect(await asked(command)).not.toContain('<prompt');
});
