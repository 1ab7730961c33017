import { isIPv6 } from 'node:net';

const GROUPS = 4;

/**
 * The addresses that count as one caller: an IPv4 address by itself, an IPv6 address by its /64 (`2001:db8:1:2::/64`), since
 * a network assigns the whole of it to one customer. An IPv4 address mapped into IPv6 counts as IPv4. Text that is no
 * address is returned unchanged.
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

/** The eight groups of a valid IPv6 address in any notation. */
function groupsOf(address: string): number[] {
  // The URL parser normalises every valid address and removes dotted parts.
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
