import type { IncomingMessage } from 'node:http';
import type { Settings } from '../../platform/settings/settings.js';
import { ClientAddress } from './client-address.js';

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
