import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/settings/settings.js';
import { addressGroup } from './address-group.js';

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
