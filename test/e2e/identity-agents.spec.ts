import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { HttpCaller } from '../harness/http-caller.js';
import { AUDIENCE, configEnv, removeConfigs, TestIssuer } from '../harness/identity.js';

interface Refusal {
  readonly error: { readonly details: { readonly reason?: string } | null };
}

let issuer: TestIssuer;
let gateway: TestGateway;
beforeAll(async () => {
  issuer = await TestIssuer.open();
  gateway = await startTestGateway({
    env: await configEnv(`
[agents.support]
description = "Answers customers"
[agents.sales]
description = "Sells"
[agents.legal]
users = ["role:lawyers"]
[auth.jwt.corp]
issuer = "${issuer.url}"
audience = "${AUDIENCE}"
[auth.jwt.corp.roles]
"helpers" = { scopes = ["sessions:read", "sessions:write"], agents = ["support", "sales"] }
"sellers" = { scopes = ["sessions:read", "sessions:write"], agents = ["sales"], bound = true }
"lawyers" = { scopes = ["sessions:read", "sessions:write"], bound = true }
"*" = { scopes = ["sessions:read", "sessions:write"], bound = true }
`),
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([issuer.close(), removeConfigs()]);
});

const ofRole = async (role: string): Promise<HttpCaller> =>
  gateway.caller('b', await issuer.sign({ sub: `one of ${role}`, groups: [role] }));

/** The agent of a new session, or the error. */
async function opened(caller: HttpCaller, body: object = {}): Promise<string | undefined> {
  const made = await caller.post<{ id: string } & Refusal>('/sessions', body);
  if (made.status !== 201) return `${made.status} ${made.body.error.details?.reason}`;
  return (await caller.get<{ agent: string }>(`/sessions/${made.body.id}`)).body.agent;
}

test.each([
  ['helpers', 'support', ['support', 'sales'], ['default', 'legal']],
  ['sellers', 'sales', ['sales'], ['default', 'support', 'legal']],
  ['lawyers', 'default', ['default', 'support', 'sales', 'legal'], []],
  ['nobody in particular', 'default', ['default', 'support', 'sales'], ['legal']],
] as const)(
  '"Binding by … a role": %s get %s unless they name another, and no others than their role allows',
  async (role, first, allowed, refused) => {
    const caller = await ofRole(role);
    expect(await opened(caller)).toBe(first);
    for (const agent of allowed) expect(await opened(caller, { agent })).toBe(agent);
    for (const agent of refused)
      expect([agent, await opened(caller, { agent })]).toEqual([agent, '403 agent_not_allowed']);
  },
);

test('sessions of other agents are neither listed nor opened by a role of some agents', async () => {
  const [helper, seller] = [await ofRole('helpers'), await ofRole('sellers')];
  const made = await gateway.b.post<{ id: string }>('/sessions', { agent: 'default' });
  expect((await helper.get(`/sessions/${made.body.id}`)).status).toBe(403);
  const { body } = await helper.get<{ sessions: { id: string }[] }>('/sessions?limit=500');
  const seen = body.sessions.map(({ id }) => id);
  const rows = await gateway.database.query<{ agent: string }>(
    'SELECT DISTINCT agent FROM sessions WHERE id = ANY ($1) ORDER BY agent',
    [seen],
  );
  expect(rows.map(({ agent }) => agent)).toEqual(['sales', 'support']);
  expect((await seller.get(`/sessions/${made.body.id}`)).status).toBe(404);
});
