import { answeringOutbound } from '../../../test/harness/outbound-answers.js';
import { OutboundFailed } from '../../platform/outbound/outbound.errors.js';
import { isGranted, PluginHttp } from './plugin-http.js';

const HOSTS = ['api.example.com', '*.weather.test', 'localhost:8080', '[::1]:9000'];

test.each([
  'https://api.example.com/v1?q=1',
  'https://API.example.com/',
  'https://api.example.com:443/',
  'https://a.weather.test/',
  'https://a.b.weather.test/',
  'http://localhost:8080/',
  'http://[::1]:9000/',
])('%s is granted', (url) => {
  expect(isGranted(HOSTS, url)).toBe(true);
});

test.each([
  'https://evil-api.example.com/',
  'https://api.example.com.evil.test/',
  'https://example.com/',
  'https://api.example.com:8443/',
  'https://weather.test/',
  'https://evilweather.test/',
  'http://localhost/',
  'http://localhost:80800/',
  'https://evil.test/?api.example.com',
  'https://api.example.com@evil.test/',
  'api.example.com',
  '',
])('%s is not granted', (url) => {
  expect(isGranted(HOSTS, url)).toBe(false);
});

describe('a request of a plugin', () => {
  const call = { url: 'https://api.example.com/v1', method: 'get', headers: {}, body: new Uint8Array() };
  const { signal } = new AbortController();

  test('goes out without headers that could redirect it, and returns the response', async () => {
    const { outbound, calls } = answeringOutbound({ status: 201, headers: { 'x-a': '1' }, body: 'made' });
    const headers = { Host: 'internal', 'Transfer-Encoding': 'chunked', 'X-Key': 'k' };
    const outcome = await new PluginHttp(outbound).request(HOSTS, { ...call, headers }, signal);
    expect(outcome).toEqual({
      status: 201,
      headers: { 'content-type': 'application/json', 'x-a': '1' },
      body: new Uint8Array(Buffer.from('made')),
    });
    expect(calls[0]).toMatchObject({ method: 'GET', headers: { 'X-Key': 'k' } });
    expect(calls[0]).not.toHaveProperty('body');
  });

  test('carries its body', async () => {
    const { outbound, calls } = answeringOutbound({ body: 'taken' });
    const body = new Uint8Array(Buffer.from('given'));
    await new PluginHttp(outbound).request(HOSTS, { ...call, method: 'POST', body }, signal);
    expect(String(calls[0]?.body)).toBe('given');
  });

  test.each([
    [
      'a method that is not offered',
      { ...call, method: 'TRACE' },
      'http_request offers GET, POST, PUT, DELETE',
    ],
    ['another host', { ...call, url: 'https://evil.test/' }, 'this host is not listed in'],
  ])('for %s is not made', async (_what, request, problem) => {
    const { outbound, calls } = answeringOutbound();
    const outcome = await new PluginHttp(outbound).request(HOSTS, request, signal);
    expect(outcome).toEqual({ problem: expect.stringContaining(problem) as unknown });
    expect(calls).toEqual([]);
  });

  test('that fails returns a problem and never throws', async () => {
    const { outbound } = answeringOutbound(new OutboundFailed('timeout'));
    const outcome = await new PluginHttp(outbound).request(HOSTS, call, signal);
    expect(outcome).toEqual({ problem: 'the request failed: The call failed: timeout.' });
  });
});
