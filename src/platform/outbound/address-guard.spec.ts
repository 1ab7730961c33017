import { FixedSettings } from '../settings/settings.js';
import { settingsSchema } from '../settings/settings.schema.js';
import { AddressGuard } from './address-guard.js';
import { NameResolver } from './name-resolver.js';
import { OutboundRefused } from './outbound.errors.js';

class NoNames extends NameResolver {
  addressesOf(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }
}

const guard = (security: object, url = ''): AddressGuard =>
  new AddressGuard(new FixedSettings(settingsSchema.parse({ security, database: { url } })), new NoNames());

test.each([
  ['always', 'postgres://db/x', true],
  ['auto', '', true],
  ['auto', 'postgres://db/x', false],
  ['never', '', false],
])('loopback is open: %s, with the database at "%s"', (allow_loopback, url, isOpen) => {
  expect(guard({ allow_loopback }, url).allows('127.0.0.1')).toBe(isOpen);
});

test('the result for a URL does not depend on how many others were checked before', () => {
  const strict = guard({ allow_loopback: 'never', allow_private_networks: ['10.1.0.0/16'] });
  const asked = ['10.1.2.3', '10.2.2.3', '93.184.216.34', '::1', 'no address'];
  const first = asked.map((address) => strict.allows(address));
  for (let n = 0; n < 1100; n += 1) strict.allows(`10.3.${n >> 8}.${n & 255}`);
  expect(asked.map((address) => strict.allows(address))).toEqual(first);
  expect(first).toEqual([true, false, true, false, false]);
  expect(['10.1.9.9', '10.4.9.9'].map((address) => strict.allows(address))).toEqual([true, false]);
});

test('a URL that was allowed is checked again under other settings', () => {
  const settings = { current: settingsSchema.parse({ security: { allow_loopback: 'always' } }) };
  const changing = new AddressGuard(settings, new NoNames());
  const url = 'http://127.0.0.1:8080/hook';
  expect([changing.checkUrl(url).pathname, changing.checkUrl(url).pathname]).toEqual(['/hook', '/hook']);
  settings.current = settingsSchema.parse({ security: { allow_loopback: 'never' } });
  expect(() => changing.checkUrl(url)).toThrow(OutboundRefused);
});

test.each([
  '169.254.169.254',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd20:ce::254',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::169.254.169.254',
  '64:ff9b::100.100.100.200',
  '64:ff9b:1::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  'fe80::1',
  '0.0.0.0',
])(
  'a host that the operator named may be private, but not lead to %s, where clouds keep credentials',
  async (address) => {
    const names = {
      addressesOf: (name: string) => Promise.resolve([name === 'own.test' ? '10.1.2.3' : address]),
    };
    const settings = new FixedSettings(settingsSchema.parse({ security: { allow_loopback: 'never' } }));
    const strict = new AddressGuard(settings, names);
    const own = new Set(['own.test', 'led.test', address, `[${address}]`]);
    expect(await strict.addressesOf('own.test', own)).toEqual(['10.1.2.3']);
    await expect(strict.addressesOf('led.test', own)).rejects.toThrow(OutboundRefused);
    expect(() => strict.checkLiteral(address.includes(':') ? `[${address}]` : address, own)).toThrow(
      OutboundRefused,
    );
  },
);

test('a host that the operator named is reached from a network without IPv4', async () => {
  const translated = '64:ff9b::93.184.216.34';
  const names = { addressesOf: () => Promise.resolve([translated]) };
  const strict = new AddressGuard(new FixedSettings(settingsSchema.parse({})), names);
  expect(await strict.addressesOf('login.test', new Set(['login.test']))).toEqual([translated]);
  expect(strict.allows(translated)).toBe(false);
});
