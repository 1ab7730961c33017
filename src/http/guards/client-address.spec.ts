import type { IncomingMessage } from 'node:http';
import type { Settings } from '../../platform/settings/settings.js';
import { addressGroup, ClientAddress } from './client-address.js';

function addressOf(peer: string, forwarded: string | undefined, trusted: string[]): string {
  const settings = { current: { gateway: { trusted_proxies: trusted } } } as unknown as Settings;
  const request = { socket: { remoteAddress: peer }, headers: { 'x-forwarded-for': forwarded } };
  return new ClientAddress(settings).of(request as unknown as IncomingMessage);
}

test('without trusted proxies the peer address counts, whatever its headers say', () => {
  expect(addressOf('203.0.113.9', '198.51.100.1', [])).toBe('203.0.113.9');
});

test('the headers of a peer that is no trusted proxy are ignored', () => {
  expect(addressOf('203.0.113.9', '198.51.100.1', ['10.0.0.0/8'])).toBe('203.0.113.9');
});

test('behind trusted proxies the nearest address that is not a trusted proxy counts', () => {
  expect(addressOf('10.0.0.1', '1.1.1.1, 198.51.100.1, 10.2.3.4', ['10.0.0.0/8'])).toBe('198.51.100.1');
  expect(addressOf('10.0.0.1', '10.9.9.9', ['10.0.0.0/8'])).toBe('10.9.9.9');
});

test('an IPv4 peer on an IPv6 socket is the same peer', () => {
  expect(addressOf('::ffff:10.0.0.1', '198.51.100.1', ['10.0.0.1'])).toBe('198.51.100.1');
  expect(addressOf('::ffff:203.0.113.9', undefined, [])).toBe('203.0.113.9');
});

test('IPv6 proxies are known by their range', () => {
  expect(addressOf('fd00::1', '2001:db8::7', ['fd00::/8'])).toBe('2001:db8::7');
});

test('a header value that is no address charges the proxy that forwarded it', () => {
  expect(addressOf('10.0.0.1', 'unknown', ['10.0.0.0/8'])).toBe('10.0.0.1');
  expect(addressOf('10.0.0.1', '198.51.100.1, x'.repeat(3), ['10.0.0.0/8'])).toBe('10.0.0.1');
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ['2001:DB8:0:7:ffff:1:2:3', '2001:db8:0:7::/64'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::ffff:cb00:7109', '203.0.113.9'],
  ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
  ['unknown', 'unknown'],
])('%s counts as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
