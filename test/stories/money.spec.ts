import { anthropicEnv, type CountingProvider, startCountingProvider } from '../harness/counting-provider.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

/** docs/money.md: the cost of a turn is known when it ends, and a budget limits what may be spent. */
let provider: CountingProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startCountingProvider(() => ({ plain: 1000, output: 100 }));
  gateway = await startTestGateway({ env: anthropicEnv(provider) });
});
afterAll(async () => {
  await gateway.stop();
  await provider.stop();
});

test('a turn is priced and shown in usage, and a budget that is used up refuses the next one until it is raised', async () => {
  const prices = { 'prices."default/m"': { input: 10, output: 50 }, 'limits.each_user.daily_usd': 0.015 };
  expect((await gateway.b.patch('/config', prices)).status).toBe(200);
  const { body } = await gateway.b.post<{ id: string }>('/sessions', { user_id: 'ada' });
  const say = () => gateway.b.post(`/sessions/${body.id}/messages`, { content: 'Hello' });
  expect((await say()).status).toBe(200);
  const { body: usage } = await gateway.admin.get<{ items: object[] }>('/usage?by=user,model');
  expect(usage.items).toEqual([
    expect.objectContaining({ user: 'ada', model: 'm', turns: 1, cost_usd: 0.015, unpriced_tokens: 0 }),
  ]);
  const refused = await say();
  expect(refused.status).toBe(429);
  expect(refused.text).toContain('budget_reached');
  await gateway.b.patch('/config', { 'limits.users.ada.daily_usd': 1 });
  expect((await say()).status).toBe(200);
});
