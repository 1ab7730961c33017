import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/settings.js';

/** The address that a request comes from: its peer's or, behind `gateway.trusted_proxies`, the one that those report. Its group is charged. */
@Injectable()
export class ClientAddress {
  private ranges: readonly string[] = [];
  private trusted = new BlockList();

  constructor(private readonly settings: Settings) {}

  /** The first address, from the nearest hop outwards, that is no trusted proxy's; stops before text that is no address. */
  of(request: IncomingMessage): string {
    let address = this.ofPeer(request.socket);
    this.follow(this.settings.current.gateway.trusted_proxies);
    for (const hop of hopsOf(request)) {
      if (!this.isTrusted(address) || isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  }

  /** The address group that the request is charged to. */
  groupOf(request: IncomingMessage): string {
    return addressGroup(this.of(request));
  }

  groupOfPeer(socket: Socket): string {
    return addressGroup(this.ofPeer(socket));
  }

  ofPeer(socket: Socket): string {
    return plain(socket.remoteAddress ?? 'unknown');
  }

  private follow(ranges: readonly string[]): void {
    if (ranges === this.ranges) return;
    this.ranges = ranges;
    this.trusted = new BlockList();
    for (const range of ranges) {
      const [address = '', prefix] = range.split('/');
      const family = familyOf(address);
      if (prefix === undefined) this.trusted.addAddress(address, family);
      else this.trusted.addSubnet(address, Number(prefix), family);
    }
  }

  private isTrusted(address: string): boolean {
    return this.ranges.length > 0 && isIP(address) !== 0 && this.trusted.check(address, familyOf(address));
  }
}

/** Addresses that proxies added, nearest first. */
function hopsOf(request: IncomingMessage): string[] {
  const sent = request.headers['x-forwarded-for'];
  if (sent === undefined) return [];
  return String(sent)
    .split(',')
    .map((hop) => plain(hop.trim()))
    .reverse();
}

/** Unwraps an IPv4 address that arrived on an IPv6 socket. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

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
