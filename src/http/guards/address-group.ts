import { isIPv6 } from 'node:net';

const GROUPS = 4;

/**
 * Who counts as one caller by address: an IPv4 address itself, and of an IPv6 address its /64, since whoever has one
 * address of it has them all (`2001:db8:1:2::/64`). An IPv4 address that is written as IPv6 is that IPv4 address. What is
 * no address stays as it is.
 */
export function addressGroup(address: string): string {
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) return address;
  const groups = groupsOf(plain);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return ipv4Of(groups);
  return `${groups
    .slice(0, GROUPS)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}

/** The eight groups of a valid IPv6 address, whatever way it is written. */
function groupsOf(address: string): number[] {
  // The URL parser writes every valid address in one way, without dotted parts.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [before = '', behind] = canonical.split('::');
  const head = numbers(before);
  const tail = numbers(behind ?? '');
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function numbers(groups: string): number[] {
  return groups === '' ? [] : groups.split(':').map((group) => Number.parseInt(group, 16));
}

function ipv4Of(groups: readonly number[]): string {
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
