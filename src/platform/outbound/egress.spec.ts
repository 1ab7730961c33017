import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUTHORITY_FILE } from '../../../test/harness/company-proxy.js';
import { Egress } from './egress.js';

const NONE = { httpsProxy: undefined, httpProxy: undefined, noProxy: undefined, extraCaFile: undefined };
const PROXY = 'http://gateway:hush%40@proxy.example.com:3128';

function proxied(noProxy: string, url: string): boolean {
  const egress = new Egress({ ...NONE, httpsProxy: PROXY, httpProxy: PROXY, noProxy }, '');
  const { protocol, hostname, port } = new URL(url);
  const own = Number(port) || (protocol === 'https:' ? 443 : 80);
  return egress.proxyFor({ protocol, hostname, port: own }) !== undefined;
}

test('https URLs go through HTTPS_PROXY, http URLs through HTTP_PROXY, with the credentials of the URL', () => {
  const egress = new Egress({ ...NONE, httpsProxy: PROXY }, '');
  const destination = { protocol: 'https:', hostname: 'api.example.com', port: 443 };
  expect(egress.proxyFor(destination)).toEqual({
    protocol: 'http:',
    hostname: 'proxy.example.com',
    port: 3128,
    authorization: `Basic ${Buffer.from('gateway:hush@').toString('base64')}`,
  });
  expect(egress.proxyFor({ ...destination, protocol: 'http:', port: 80 })).toBeUndefined();
  expect(Egress.direct().proxyFor(destination)).toBeUndefined();
});

test.each([
  ['', 'https://api.example.com/', true],
  ['*', 'https://api.example.com/', false],
  ['example.com', 'https://api.example.com/', false],
  ['.example.com', 'https://api.example.com/', false],
  ['*.example.com', 'https://api.example.com/', false],
  ['example.com', 'https://example.com/', false],
  ['example.com', 'https://notexample.com/', true],
  ['other.org, API.example.com', 'https://api.example.com/', false],
  ['example.com:8443', 'https://example.com/', true],
  ['example.com:8443', 'https://example.com:8443/', false],
  ['10.0.0.0/8', 'http://10.1.2.3/', false],
  ['10.0.0.0/8', 'http://11.1.2.3/', true],
  ['2001:db8::/32', 'http://[2001:db8::1]/', false],
  ['1.2.3.4', 'http://1.2.3.4/', false],
  ['3.4', 'http://1.2.3.4/', true],
  ['', 'http://127.0.0.1:11434/', false],
  ['', 'http://[::1]:11434/', false],
  ['', 'http://localhost:11434/', false],
])('NO_PROXY=%s and %s: through the proxy is %s', (noProxy, url, expected) => {
  expect(proxied(noProxy, url)).toBe(expected);
});

test('a proxy that is not the URL of an HTTP proxy is refused without showing its password', () => {
  for (const httpsProxy of ['proxy:canary-word@x', 'socks5://u:canary-word@x:1080', 'canary-word']) {
    const refused = () => new Egress({ ...NONE, httpsProxy }, '');
    expect(refused).toThrow('HTTPS_PROXY must be the URL of an HTTP proxy');
    expect(refused).not.toThrow('canary');
  }
});

test('a file of authorities that is missing, is not a certificate or is broken is refused by name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agw-ca-'));
  try {
    const file = (text: string): string => {
      writeFileSync(join(folder, 'ca.pem'), text);
      return join(folder, 'ca.pem');
    };
    expect(() => new Egress(NONE, join(folder, 'none.pem'))).toThrow(
      /outbound\.ca_file: .*none\.pem cannot be read \(ENOENT\)/,
    );
    expect(() => new Egress(NONE, file('hello'))).toThrow(/outbound\.ca_file: .*no certificate in PEM form/);
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(() => new Egress(NONE, file(broken))).toThrow(
      /outbound\.ca_file: .*certificate that cannot be read/,
    );
    const sound = readFileSync(AUTHORITY_FILE, 'utf8');
    expect(new Egress(NONE, file(sound)).secureContext).toBeDefined();
    expect(() => new Egress({ ...NONE, extraCaFile: '/nowhere.pem' }, file(sound))).toThrow(
      'NODE_EXTRA_CA_CERTS',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
