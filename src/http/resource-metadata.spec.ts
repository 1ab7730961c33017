import { settingsSchema } from '../platform/settings/settings.schema.js';
import type { GatewayRequest } from './gateway-request.js';
import { publicUrl } from './resource-metadata.js';

const urlFor = (host: string | undefined, public_url = ''): string =>
  publicUrl(settingsSchema.parse({ gateway: { public_url } }), { headers: { host } } as GatewayRequest);

test.each(['agents.test', 'agents.test:8080', '127.0.0.1:3120', '[::1]', '[::1]:8080', 'A_b-c.test:1'])(
  'without a public URL a caller reaches the gateway at the Host %s that it asked',
  (host) => {
    expect(urlFor(host)).toBe(`http://${host}`);
  },
);

test.each([
  ...[
    'evil.test", error="none',
    'a, Basic realm="x',
    'u:p@evil.test',
    'x/../y',
    'x y',
    '"',
    '',
    'a.test:1:2',
  ],
  ...['a.test?x', 'a.test#x', '[::1', 'a\u00e9.test', 'a%2etest', undefined],
])('a Host that is none is no part of a URL: %j', (host) => {
  expect(urlFor(host)).toBe('http://localhost');
});

test('the public URL wins, without slashes at its end', () => {
  expect(urlFor('evil.test', 'https://agents.example.com/')).toBe('https://agents.example.com');
});
