import { addressRanges, isPublicAddress } from './address-ranges.js';

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001::1',
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '100.100.100.200',
  '168.63.129.16',
  '169.254.169.254',
  '192.0.0.192',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:8.8.8.8',
  '::ffff:127.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  'fc00::1',
  'fd00:ec2::254',
  'fd12:3456::1',
  'fd20:ce::254',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
  'localhost',
  '',
])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));

test('a range without a prefix is one address', () => {
  const list = addressRanges(['10.0.0.1', '::1', '192.168.0.0/16']);
  expect(list.check('10.0.0.1', 'ipv4')).toBe(true);
  expect(list.check('10.0.0.2', 'ipv4')).toBe(false);
  expect(list.check('::1', 'ipv6')).toBe(true);
  expect(list.check('192.168.77.1', 'ipv4')).toBe(true);
});
