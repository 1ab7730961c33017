import { mintToken } from '../../src/platform/tokens/token-format.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { Answer } from '../harness/http-caller.js';
import { expectCommonHeaders, expectError } from './support/envelope.js';
import { PROFILES, type Wire } from './support/faces.js';

const DAY_MS = 86_400_000;

let gateway: TestGateway;
let replica: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  replica = await startTestGateway({ database: gateway.database });
});
afterAll(async () => {
  await replica.stop();
  await gateway.stop();
});

async function revoked(): Promise<string> {
  const token = await gateway.mint({ name: 'revoked' });
  await gateway.started.app.get(TokensService, { strict: false }).revoke('revoked');
  return token;
}

describe.each(PROFILES)(
  '5 | Missing, invalid or expired token: 401 with error code `unauthorized` | Profile %s',
  (profile) => {
    test('the same answer for garbage, unknown, expired and revoked tokens, with WWW-Authenticate', async () => {
      const sound = await gateway.mint();
      const wrong = [
        'garbage',
        `${sound.slice(0, -1)}${sound.endsWith('0') ? '1' : '0'}`,
        'agw_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa000000',
        mintToken(),
        await gateway.mint({ expiresAt: new Date(Date.now() - 1000) }),
        await revoked(),
      ];
      const answers: Answer[] = [];
      for (const token of wrong) answers.push(await gateway.caller(profile, token).get('/sessions'));
      for (const answer of answers) {
        expectError(profile, answer, 401, 'unauthorized');
        expectCommonHeaders(answer);
        expect(answer.text).toBe(answers[0]?.text);
        expect(answer.headers.get('www-authenticate')).toBe(
          'Bearer realm="agent-gateway", error="invalid_token"',
        );
      }
    });

    test('a token that is missing, or sent otherwise than as a Bearer, is the same 401', async () => {
      const stranger = gateway.caller(profile, undefined);
      const none = await stranger.get('/sessions');
      expectError(profile, none, 401, 'unauthorized');
      expect(none.headers.get('www-authenticate')).toBe('Bearer realm="agent-gateway"');
      for (const authorization of [
        gateway.token,
        `Basic ${gateway.token}`,
        'Bearer',
        `Bearer ${gateway.token} x`,
        `Token ${gateway.token}`,
      ])
        expectError(profile, await stranger.get('/sessions', { authorization }), 401, 'unauthorized');
      expectError(
        profile,
        await stranger.get(`/sessions?access_token=${gateway.token}`),
        401,
        'unauthorized',
      );
      expectError(
        profile,
        await stranger.get('/sessions', { cookie: `token=${gateway.token}` }),
        401,
        'unauthorized',
      );
    });

    test('the scheme is known in any case, as RFC 9110, 11.1 has it', async () => {
      const stranger = gateway.caller(profile, undefined);
      expect((await stranger.get('/sessions', { authorization: `bEaReR  ${gateway.token}` })).status).toBe(
        200,
      );
    });

    test('a token that has not expired yet is taken', async () => {
      const token = await gateway.mint({ expiresAt: new Date(Date.now() + DAY_MS) });
      expect((await gateway.caller(profile, token).get('/sessions')).status).toBe(200);
    });

    test('a token that expires between two requests is refused from then on', async () => {
      const token = await gateway.mint({ expiresAt: new Date(Date.now() + 400) });
      expect((await gateway.caller(profile, token).get('/sessions')).status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 450));
      expectError(profile, await gateway.caller(profile, token).get('/sessions'), 401, 'unauthorized');
    });

    test('no answer, error or log line holds the token that was sent', async () => {
      const token = await gateway.mint({ scopes: ['logs:read'] });
      const refused = await gateway.caller(profile, token).post<Wire>('/sessions', { channel: token });
      expectError(profile, refused, 403, 'forbidden');
      expect(refused.text).not.toContain(token);
      expect(gateway.logLines.join('')).not.toContain(token);
    });
  },
);

describe.each(PROFILES)('5 | Token lacking permission: 403 | Profile %s', (profile) => {
  test.each([
    ['GET', '/sessions', 'sessions:read', 'sessions:write', 200],
    ['POST', '/sessions', 'sessions:write', 'sessions:read', 201],
    ['GET', '/sessions/sess_x', 'sessions:read', 'sessions:write', 404],
    ['DELETE', '/sessions/sess_x', 'sessions:write', 'sessions:read', 404],
    ['GET', '/sessions/sess_x/messages', 'sessions:read', 'sessions:write', 404],
    ['POST', '/sessions/sess_x/messages', 'sessions:write', 'sessions:read', 404],
    ['GET', profile === 'a' ? '/info' : '/status', 'status:read', 'sessions:read', 200],
  ] as const)('%s %s needs %s; %s alone is 403 forbidden', async (method, path, scope, other, status) => {
    const send = async (granted: typeof scope | typeof other) => {
      const caller = gateway.caller(profile, await gateway.mint({ scopes: [granted] }));
      return caller.send(
        method,
        path,
        path.endsWith('messages') && method === 'POST' ? { body: { content: 'x' } } : {},
      );
    };
    expect((await send(scope)).status).toBe(status);
    const refused = await send(other);
    const error = expectError(profile, refused, 403, 'forbidden');
    expect(error.message).toContain(scope);
    expectCommonHeaders(refused);
  });

  test('an unknown path asks for any valid token, whatever its scopes', async () => {
    const caller = gateway.caller(profile, await gateway.mint({ scopes: ['logs:read'] }));
    expectError(profile, await caller.get('/nowhere'), 404, 'not_found');
  });
});

test('a revoked token is refused within 1.5 s on every replica', async () => {
  const token = await gateway.mint({ name: 'soon gone' });
  const callers = [gateway.caller('a', token), replica.caller('b', token)];
  for (const caller of callers) expect((await caller.get('/sessions')).status).toBe(200);
  await gateway.started.app.get(TokensService, { strict: false }).revoke('soon gone');
  const deadline = Date.now() + 1500;
  const refusedAt = callers.map(async (caller) => {
    while ((await caller.get('/sessions')).status !== 401) {
      if (Date.now() > deadline) return 'too late';
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return 'in time';
  });
  expect(await Promise.all(refusedAt)).toEqual(['in time', 'in time']);
});

test('a token that another replica made works here at once', async () => {
  const token = await replica.mint();
  expect((await gateway.caller('a', token).get('/sessions')).status).toBe(200);
});

test('audit rows for tokens: made and revoked ones, without the token itself', async () => {
  const service = gateway.started.app.get(TokensService, { strict: false });
  const secret = await gateway.mint({ name: 'audited', scopes: ['sessions:read'], user: 'ada' });
  await service.revoke('audited');
  const rows = await gateway.database.query<{ action: string; details: Record<string, unknown> }>(
    `SELECT action, actor, details FROM audit_entries WHERE target = 'audited' ORDER BY id`,
  );
  expect(rows).toMatchObject([
    { action: 'token.created', actor: 'the gateway', details: { scopes: ['sessions:read'], user_id: 'ada' } },
    { action: 'token.revoked', actor: 'the gateway' },
  ]);
  expect(JSON.stringify(rows)).not.toContain(secret);
});
