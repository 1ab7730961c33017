import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const origin = (profile: 'a' | 'b'): string => `http://127.0.0.1:${gateway.started.ports[profile]}`;

describe.each(['a', 'b'] as const)('GET / of Profile %s', (profile) => {
  test('leads a browser on, to places that are there and need no token', async () => {
    const page = await fetch(origin(profile), { headers: BROWSER });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const links = [...(await page.text()).matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path);
    expect(links).toHaveLength(5);
    for (const link of links)
      expect([link, (await fetch(origin(profile) + link)).status]).toEqual([link, 200]);
  });

  test('carries nothing that its policy would have to allow, and no version', async () => {
    const page = await fetch(origin(profile), { headers: BROWSER });
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
    const html = await page.text();
    expect(html).not.toMatch(/<script|<style|style=|\son\w+=|https?:/i);
    expect(html).not.toMatch(/\d+\.\d+\.\d+/);
  });

  test('answers everybody else with JSON', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }, { accept: 'image/png' }]) {
      const response = await fetch(origin(profile), { headers });
      expect([response.status, response.headers.get('vary')]).toEqual([200, 'Accept, Accept-Encoding']);
      expect(await response.json()).toEqual({
        name: 'Agent Gateway',
        profile,
        api: '/api/v1',
        health: profile === 'a' ? '/api/v1/health' : '/api/v1/status/health',
        docs: '/docs',
        openapi: '/openapi.json',
        asyncapi: '/asyncapi.json',
        console: '/console',
      });
    }
  });

  test('takes no other method', async () => {
    const response = await gateway.caller(profile, gateway.token).send('POST', '/../../');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

test('without the documents it names none', async () => {
  const plain = await startTestGateway({ env: { GATEWAY__GATEWAY__DOCS: 'false' } });
  const response = await fetch(`http://127.0.0.1:${plain.started.ports.a}/`);
  expect(Object.keys((await response.json()) as object)).toEqual([
    'name',
    'profile',
    'api',
    'health',
    'console',
  ]);
  await plain.stop();
});
