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

test('a verdict is the same however many addresses were asked for before', () => {
  const strict = guard({ allow_loopback: 'never', allow_private_networks: ['10.1.0.0/16'] });
  const asked = ['10.1.2.3', '10.2.2.3', '93.184.216.34', '::1', 'no address'];
  const first = asked.map((address) => strict.allows(address));
  for (let n = 0; n < 1100; n += 1) strict.allows(`10.3.${n >> 8}.${n & 255}`);
  expect(asked.map((address) => strict.allows(address))).toEqual(first);
  expect(first).toEqual([true, false, true, false, false]);
  expect(['10.1.9.9', '10.4.9.9'].map((address) => strict.allows(address))).toEqual([true, false]);
});

test('a URL that was sound is looked at again under other settings', () => {
  const settings = { current: settingsSchema.parse({ security: { allow_loopback: 'always' } }) };
  const changing = new AddressGuard(settings, new NoNames());
  const url = 'http://127.0.0.1:8080/hook';
  expect([changing.checkUrl(url).pathname, changing.checkUrl(url).pathname]).toEqual(['/hook', '/hook']);
  settings.current = settingsSchema.parse({ security: { allow_loopback: 'never' } });
  expect(() => changing.checkUrl(url)).toThrow(OutboundRefused);
});
