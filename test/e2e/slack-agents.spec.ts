import { LLMock } from '@copilotkit/aimock';
import { channelEnv, untilChannel } from '../harness/channels.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { configEnv, removeConfigs } from '../harness/identity.js';
import { SLACK_APP_TOKEN, SLACK_BOT_TOKEN, TestSlack } from '../harness/slack.js';

jest.setTimeout(60_000);

const AGENTS = `
[agents.support]
system_prompt = "You answer customers."
models = ["care/support-model"]
tools = { allow = ["memory_*"] }
[agents.legal]
system_prompt = "You read contracts."
models = ["law/legal-model"]
tools = { allow = ["skill_read"] }
skills = ["*"]
`;

interface SentToModel {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** Two workspaces, each with its own bot. */
let slacks: Record<'support' | 'legal', TestSlack>;
let models: Record<'support' | 'legal', LLMock>;
let gateway: TestGateway;
beforeAll(async () => {
  const [one, other] = await Promise.all([TestSlack.start(), TestSlack.start()]);
  slacks = { support: one, legal: other };
  models = { support: new LLMock({ port: 0 }), legal: new LLMock({ port: 0 }) };
  await Promise.all([models.support.start(), models.legal.start()]);
  const slack = (agent: 'support' | 'legal') =>
    channelEnv(agent === 'support' ? 'helpdesk' : 'lawyers', {
      ...{ type: 'slack', token: SLACK_BOT_TOKEN, app_token: SLACK_APP_TOKEN },
      ...{ api_url: slacks[agent].url, allowed_users: '*', agent },
    });
  const provider = (name: string, model: LLMock) => ({
    [`GATEWAY__PROVIDERS__${name}__KIND`]: 'openai',
    [`GATEWAY__PROVIDERS__${name}__API_KEY`]: `key-of-${name}`,
    [`GATEWAY__PROVIDERS__${name}__BASE_URL`]: `${model.url}/v1`,
  });
  gateway = await startTestGateway({
    env: {
      ...(await configEnv(AGENTS)),
      ...slack('support'),
      ...slack('legal'),
      ...provider('CARE', models.support),
      ...provider('LAW', models.legal),
    },
  });
  await untilChannel(gateway, 'helpdesk', 'connected');
  await untilChannel(gateway, 'lawyers', 'connected');
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([slacks.support.stop(), slacks.legal.stop(), models.support.stop(), models.legal.stop()]);
  await removeConfigs();
});

const lastAsked = (model: LLMock): SentToModel => model.getRequests().at(-1)?.body as unknown as SentToModel;

test('binding by channel: each of two Slack channels is answered by its agent, with its prompt, model and tools', async () => {
  models.support.onMessage(/.*/, { content: 'Support here.' });
  models.legal.onMessage(/.*/, { content: 'Legal here.' });
  const rooms = { support: await slacks.support.direct(), legal: await slacks.legal.direct() };
  await slacks.support.write('Who are you?', { channel: rooms.support });
  await slacks.legal.write('Who are you?', { channel: rooms.legal });
  const [helped] = await slacks.support.untilSaid(1, rooms.support);
  const [advised] = await slacks.legal.untilSaid(1, rooms.legal);
  expect([helped?.text, advised?.text]).toEqual(['Support here.', 'Legal here.']);

  const [support, legal] = [lastAsked(models.support), lastAsked(models.legal)];
  expect([support.model, legal.model]).toEqual(['support-model', 'legal-model']);
  const prompts = [support, legal].map(({ messages }) => JSON.stringify(messages[0]));
  expect(prompts[0]).toContain('You answer customers.');
  expect(prompts[1]).toContain('You read contracts.');
  const toolsOf = ({ tools = [] }: SentToModel): string[] => tools.map((tool) => tool.function.name).sort();
  expect(toolsOf(support)).toEqual(['memory_forget', 'memory_recall', 'memory_store']);
  expect(toolsOf(legal)).toEqual(['skill_read']);

  const { body } = await gateway.admin.get<{ items: { channel: string; agent: string }[] }>('/sessions');
  const bound = body.items.map(({ channel, agent }) => `${channel}: ${agent}`).sort();
  expect(bound).toEqual(['helpdesk: support', 'lawyers: legal']);
});

test('a channel that is bound to another agent answers new conversations with that agent', async () => {
  const patched = await gateway.b.patch('/config', { 'channels_config.lawyers.agent': 'nobody' });
  expect(patched.status).toBe(400);
  expect((await gateway.b.patch('/config', { 'channels_config.lawyers.agent': 'support' })).status).toBe(200);
  await untilChannel(gateway, 'lawyers', 'connected');
  slacks.legal.forget();
  const room = await slacks.legal.direct('grace');
  await slacks.legal.write('And now?', { channel: room, user: 'grace' });
  const [said] = await slacks.legal.untilSaid(1, room);
  expect(said?.text).toBe('Support here.');
});
