import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * IPv4 addresses outside the public internet: the IANA special-purpose registry, multicast and the reserved rest. The
 * metadata services of clouds are among them (169.254.169.254; 100.100.100.200 at Alibaba; 192.0.0.192 at Oracle),
 * except Azure's host.
 */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Within the global unicast range: protocol assignments (Teredo among them), documentation, 6to4, AS112. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const special = addressRanges([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
/** All of IPv6 that is routed on the internet. Addresses that map or embed IPv4 lie outside it, or are special. */
const globalUnicast = addressRanges(['2000::/3']);

/** The ranges as a set that addresses can be looked up in. An address without a prefix is a range of one. */
export function addressRanges(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = familyOf(address);
    list.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family);
  }
  return list;
}

/** Whether an address belongs to the public internet. Anything that is not an address does not. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}
