import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConsoleSignIn } from '../../src/areas/tokens/console-sign-in.service.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const ASSETS = resolve('dist/console/assets');
const MOST_JAVASCRIPT_BYTES = 250_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const get = (path: string, headers: Record<string, string> = {}, profile: 'a' | 'b' = 'b') =>
  fetch(`http://127.0.0.1:${gateway.started.ports[profile]}${path}`, { headers });

const exchange = (code: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${gateway.started.ports.b}/admin/v1/console/sign-in`, {
    method: 'POST',
    headers: { Authorization: `Sign-In-Code ${code}`, ...headers },
  });

describe.each(['a', 'b'] as const)('"/console | both profile ports", on that of Profile %s', (profile) => {
  test('its page needs no token, and its policy allows no inline code, no other origin, no frame and no form', async () => {
    const page = await get('/console', {}, profile);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = (page.headers.get('content-security-policy') ?? '').split('; ');
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "trusted-types 'none'",
      ]),
    );
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|style=|\son\w+=|https?:/i);
    for (const [, path = ''] of html.matchAll(/(?:src|href)="([^"]+)"/g))
      expect([path, (await get(path, {}, profile)).status]).toEqual([path, 200]);
  });

  test('every page of it is that page, and an unknown asset is 404', async () => {
    const page = await (await get('/console', {}, profile)).text();
    for (const path of ['/console/', '/console/sessions/sess_1', '/console/config?find=x'])
      expect(await (await get(path, {}, profile)).text()).toBe(page);
    expect((await get('/console/assets/main-OLD.js', {}, profile)).status).toBe(404);
    expect((await get('/console/assets/..%2F..%2Fbuild.json', {}, profile)).status).toBe(404);
  });
});

test('the page is asked for again, and what changes its name is kept; both come compressed when that is accepted', async () => {
  const page = await get('/console');
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const [, script = ''] = /src="([^"]+)"/.exec(await page.text()) ?? [];
  const again = await get('/console', { 'If-None-Match': page.headers.get('etag') ?? '' });
  expect(again.status).toBe(304);
  const plain = await get(script, { 'Accept-Encoding': 'identity' });
  expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(plain.headers.get('content-encoding')).toBeNull();
  const text = await plain.text();
  for (const encoding of ['br', 'gzip']) {
    const packed = await get(script, { 'Accept-Encoding': encoding });
    expect([packed.headers.get('content-encoding'), packed.headers.get('vary')]).toEqual([
      encoding,
      'Accept-Encoding',
    ]);
    expect(Number(packed.headers.get('content-length'))).toBeLessThan(text.length / 2);
    expect(await packed.text()).toBe(text);
  }
});

test('its JavaScript is at most 250 KB compressed, all pages together', () => {
  const scripts = readdirSync(ASSETS).filter((name) => name.endsWith('.js.gz'));
  const bytes = scripts.reduce((sum, name) => sum + statSync(join(ASSETS, name)).size, 0);
  expect(scripts.length).toBeGreaterThan(5);
  expect(bytes).toBeLessThan(MOST_JAVASCRIPT_BYTES);
});

test('"each can be switched off": without the face it is 404, and the root page does not name it', async () => {
  const bare = await startTestGateway({ env: { GATEWAY__GATEWAY__FACES: '["admin"]' } });
  try {
    const origin = `http://127.0.0.1:${bare.started.ports.b}`;
    const headers = { Authorization: `Bearer ${bare.token}` };
    expect((await fetch(`${origin}/console`, { headers })).status).toBe(404);
    expect(await (await fetch(origin)).json()).not.toHaveProperty('console');
    expect(bare.started.signInCode).toBeUndefined();
  } finally {
    await bare.stop();
  }
});

describe('"the console signs in once: a one-time code, 10 minutes, loopback only"', () => {
  interface Signed {
    id: string;
    token: string;
    scopes: string[];
    expires_at: string;
  }
  const codes = () => gateway.started.app.get(ConsoleSignIn, { strict: false });

  test('the code of the start becomes a token of twelve hours, and no second one', async () => {
    const code = gateway.started.signInCode ?? '';
    const answer = await exchange(code);
    const signed = (await answer.json()) as Signed;
    expect([answer.status, signed.scopes]).toEqual([201, ['*']]);
    expect(Date.parse(signed.expires_at) - Date.now()).toBeLessThanOrEqual(12 * 3_600_000);
    const me = await gateway.adminCaller(signed.token, 'b').get('/me');
    expect(me.body).toMatchObject({
      name: 'console',
      scopes: ['*'],
      user_id: null,
      agents: null,
      profile: 'b',
    });
    expect((await exchange(code)).status).toBe(401);
  });

  test('of many who try at once one gets a token', async () => {
    const code = codes().createCode();
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(code)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(7);
  });

  test.each([
    ['a proxy stands between', { 'X-Forwarded-For': '203.0.113.9' }],
    ['a proxy says so in another way', { Forwarded: 'for=203.0.113.9' }],
  ])('it is refused when %s, and is not used up', async (_why, headers) => {
    const code = codes().createCode();
    expect((await exchange(code, headers)).status).toBe(401);
    expect((await exchange(code)).status).toBe(201);
  });

  test.each(['', 'x', 'A'.repeat(43)])('"%s" is no code', async (code) => {
    codes().createCode();
    expect((await exchange(code)).status).toBe(401);
  });

  test('after ten minutes it is worth nothing', async () => {
    const code = codes().createCode();
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 10 * 60_000 + 1);
    await expect(codes().exchange(code, true)).rejects.toThrow('sign-in link is not valid');
    now.mockRestore();
    await expect(codes().exchange(code, true)).rejects.toThrow('sign-in link is not valid');
  });
});

test('"GET /admin/v1/me" tells any token what it may do, a bound one too', async () => {
  const bound = await gateway.mint({ name: 'phone', scopes: ['sessions:read'], user: 'ada' });
  const { status, body } = await gateway.adminCaller(bound, 'a').get('/me');
  expect([status, body]).toEqual([
    200,
    {
      name: 'phone',
      scopes: ['sessions:read'],
      user_id: 'ada',
      agents: null,
      profile: 'a',
      version: expect.any(String) as string,
    },
  ]);
  expect((await gateway.adminCaller(undefined, 'a').get('/me')).status).toBe(401);
});
