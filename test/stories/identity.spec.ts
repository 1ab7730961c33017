import { createRemoteJWKSet, jwtVerify } from 'jose';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { AUDIENCE } from '../harness/identity.js';
import { McpBench, serverB } from '../harness/mcp.js';
import { StandardIssuer } from '../harness/standard-issuer.js';
import { TokenCheckingServer } from '../harness/token-checking-server.js';

const GATEWAY = 'https://gateway.example.com';

let people: StandardIssuer;
let services: StandardIssuer;
let crm: TokenCheckingServer;
let bench: McpBench;
let gateway: TestGateway;
const seen = new Set<string>();
beforeAll(async () => {
  [people, services] = await Promise.all([
    StandardIssuer.start('oauth2-mock-server'),
    StandardIssuer.start('oidc-provider'),
  ]);
  // Written like any tool server: the library fetches the gateway's keys, and the server remembers the assertions it
  // has seen.
  crm = await TokenCheckingServer.start((audience) => async (request) => {
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    const keys = createRemoteJWKSet(
      new URL(`http://127.0.0.1:${gateway.started.ports.b}/.well-known/jwks.json`),
    );
    const checks = { issuer: GATEWAY, audience, algorithms: ['EdDSA'], maxTokenAge: 65 };
    const { payload } = await jwtVerify(token, keys, { ...checks, requiredClaims: ['sub', 'exp', 'jti'] });
    if (seen.has(payload.jti ?? '')) throw new Error('replayed');
    seen.add(payload.jti ?? '');
    return { claims: payload, token };
  });
  const settings = `
[gateway]
public_url = "${GATEWAY}"
[auth.jwt.people]
issuer = "${people.url}"
audience = "${AUDIENCE}"
[auth.jwt.people.roles]
"sales" = { scopes = ["sessions:read", "sessions:write"], bound = true }
[auth.jwt.services]
issuer = "${services.url}"
audience = "${AUDIENCE}"
[auth.jwt.services.roles]
"auditors" = { scopes = ["sessions:read"] }
`;
  const server = { transport: 'http', url: crm.url, identity: 'assertion', health_interval_ms: 500 };
  bench = await McpBench.make({ crm: server }, settings);
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => expect((await serverB(gateway, 'crm'))?.status).toBe('connected'), 20_000);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([crm.stop(), people.stop(), services.stop(), bench.clear()]);
});

const caller = (token: string) => gateway.caller('a', token);

test('a person signs in with a JWT of the company, talks in a session, and the tool server knows for whom the gateway acts', async () => {
  const ada = caller(await people.token('code', { sub: 'ada', groups: ['sales'] }));
  const { status, body } = await ada.post<{ session_id: string }>('/sessions', {});
  expect(status).toBe(201);
  const answer = await ada.post<{ tool_calls: { status: string }[] }>(
    `/sessions/${body.session_id}/messages`,
    { content: '/call crm__whoami {}' },
  );
  expect(answer.body.tool_calls.map((call) => call.status)).toEqual(['success']);
  const call = crm.calls.findLast(({ method }) => method === 'tools/call');
  expect(call?.claims).toMatchObject({
    iss: GATEWAY,
    sub: `${people.url}|ada`,
    aud: crm.url,
    session_id: body.session_id,
    agent: 'default',
    channel: 'api',
  });
  // Nothing from the person's own token reaches the server.
  expect(JSON.stringify(call?.claims)).not.toContain('sales');
});

test('an assertion cannot be used twice: the server refuses it, and the gateway never sends one again', async () => {
  const { token = '' } = crm.calls.findLast(({ method }) => method === 'tools/call') ?? {};
  expect(crm.refusals.filter((reason) => reason.includes('replayed'))).toEqual([]);
  const replay = await fetch(crm.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
  });
  expect([replay.status, crm.refusals.at(-1)]).toEqual([401, 'Error: replayed']);
});

test('several issuers: a service of the other one reads what its role allows, and does not write', async () => {
  const auditor = caller(await services.token('client_credentials', { groups: ['auditors'] }));
  expect((await auditor.get('/sessions')).status).toBe(200);
  expect((await auditor.post('/sessions', {})).status).toBe(403);
  // A role at one issuer means nothing at another.
  const stranger = caller(await services.token('client_credentials', { groups: ['sales'] }));
  expect((await stranger.get('/sessions')).status).toBe(403);
});

test('another person of the same company sees nothing of it', async () => {
  const bob = caller(await people.token('code', { sub: 'bob', groups: ['sales'] }));
  const { body } = await bob.get<{ sessions: unknown[] }>('/sessions');
  expect(body.sessions).toEqual([]);
});
