import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { AUDIENCE, configEnv, removeConfigs, TestIssuer } from '../harness/identity.js';

interface Made {
  token: string;
  expires_at: string;
}
interface Refusal {
  error: { details: { reason?: string } | null };
}

let issuer: TestIssuer;
let gateway: TestGateway;
beforeAll(async () => {
  issuer = await TestIssuer.open();
  gateway = await startTestGateway({
    env: await configEnv(`
[agents.support]
description = "Answers customers"
[auth.jwt.corp]
issuer = "${issuer.url}"
audience = "${AUDIENCE}"
[auth.jwt.corp.roles]
"platform" = { scopes = ["sessions:read", "tokens:read", "tokens:write"], agents = ["support"] }
"self-service" = { scopes = ["sessions:read", "tokens:write"], bound = true }
`),
  });
});
afterAll(async () => {
  await gateway.stop();
  await issuer.close();
  await removeConfigs();
});

/** The API's response to a person with this role. */
async function asks(role: string, path: string, body: object) {
  const token = await issuer.sign({ groups: [role] });
  return gateway.adminCaller(token).post<Made & Refusal>(path, body);
}
const NARROW = { name: 'narrow', scopes: ['sessions:read'] };

describe('"nobody gives more than they hold", with a JWT', () => {
  test.each([
    ['a scope that its role lacks', { ...NARROW, scopes: ['approvals:write'] }],
    ['everything', { name: 'all', preset: 'admin' }],
    ['everything, by the preset of operators', { name: 'operator', preset: 'operator' }],
    ['time that the JWT does not have', { ...NARROW, expires_in: '1h' }],
    ['no end', { ...NARROW, expires_in: 'never' }],
    ['another user', { ...NARROW, user_id: 'somebody' }],
    ['a user of its issuer', () => ({ ...NARROW, user_id: `${issuer.url}|grace` })],
  ])('%s: 403', async (_title, wish) => {
    const { status, body } = await asks('platform', '/tokens', typeof wish === 'function' ? wish() : wish);
    expect([status, body.error.details?.reason]).toEqual([403, 'more_than_held']);
  });

  test('what it gives ends with the JWT, has its agents, and may be bound to the person itself', async () => {
    const { status, body } = await asks('platform', '/tokens', { ...NARROW, user_id: `${issuer.url}|ada` });
    expect(status).toBe(201);
    // The JWT lives for 300 s, and is accepted for another 60 s of clock skew.
    expect(Date.parse(body.expires_at)).toBeLessThanOrEqual(Date.now() + 361_000);
    const [row] = await gateway.database.query<object>(
      `SELECT agents, user_id FROM api_tokens ORDER BY created_at DESC LIMIT 1`,
    );
    expect(row).toEqual({ agents: ['support'], user_id: `${issuer.url}|ada` });
  });

  test('it rotates no token that holds more, of all agents, or without end', async () => {
    for (const rights of [
      { scopes: ['*' as const] },
      { scopes: ['sessions:read' as const] },
      { scopes: ['sessions:read' as const], agents: ['default'] },
    ]) {
      await gateway.mint({ name: 'target', ...rights });
      const [{ id } = { id: '' }] = await gateway.database.query<{ id: string }>(
        `SELECT id FROM api_tokens ORDER BY created_at DESC LIMIT 1`,
      );
      const { status, body } = await asks('platform', `/tokens/${id}/rotate`, {});
      expect([status, body.error.details?.reason]).toEqual([403, 'more_than_held']);
    }
  });

  test('a bound role gives nothing at all', async () => {
    expect((await asks('self-service', '/tokens', NARROW)).status).toBe(403);
  });
});
