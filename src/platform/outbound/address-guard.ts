import { type BlockList, isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { isAmong } from '../../common/text/name-pattern.js';
import { Settings } from '../settings/settings.js';
import type { GatewaySettings } from '../settings/settings.schema.js';
import { addressRanges, familyOf, isPublicAddress } from './address-ranges.js';
import { NameResolver } from './name-resolver.js';
import { OutboundRefused } from './outbound.errors.js';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
/** Where clouds serve their metadata and credentials. Even a host that the operator named may not lead there. */
const METADATA_IPV4 = [
  '169.254.0.0/16',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '0.0.0.0/8',
];
const NEVER = addressRanges([
  ...METADATA_IPV4,
  ...METADATA_IPV4.map(throughNat64),
  ...['fe80::/10', 'fd00:ec2::254', 'fd20:ce::254', '::'],
  // They embed an address of IPv4 where only their own network knows (RFC 8215), or are no longer in use (6to4).
  ...['64:ff9b:1::/48', '2002::/16'],
]);
const MAX_REMEMBERED = 1000;
/** In characters, for URLs. */
const MAX_REMEMBERED_LENGTH = 2048;

/** What the current settings allow, with a cache of results, because the same URLs are checked again and again. */
interface Rules {
  readonly of: GatewaySettings;
  readonly exceptions: readonly string[];
  readonly list: BlockList;
  readonly proxyNames: readonly string[];
  readonly verdicts: Map<string, boolean>;
  /** URLs that passed. */
  readonly urls: Map<string, URL>;
}

/** Decides where the gateway may connect: to public addresses, and to the exceptions of `[security]`. */
@Injectable()
export class AddressGuard {
  private known: Rules | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly names: NameResolver,
  ) {}

  /**
   * Checks everything about a URL that needs no look-up: scheme, credentials, port, and literal addresses in any
   * spelling. Throws `OutboundRefused`.
   * @param ownHosts hosts that the operator named for this call, which may be private
   */
  checkUrl(text: string, ownHosts?: ReadonlySet<string>): Readonly<URL> {
    if (ownHosts !== undefined) return this.checkedUrl(text, ownHosts);
    const { urls } = this.rules();
    const known = urls.get(text);
    if (known !== undefined) return known;
    const url = this.checkedUrl(text);
    return text.length > MAX_REMEMBERED_LENGTH ? url : remember(urls, text, url);
  }

  private checkedUrl(text: string, ownHosts?: ReadonlySet<string>): URL {
    if (!URL.canParse(text)) throw new OutboundRefused('url');
    const url = new URL(text);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundRefused('scheme');
    if (url.username !== '' || url.password !== '') throw new OutboundRefused('credentials');
    if (isForbiddenPort(url)) throw new OutboundRefused('port');
    this.checkLiteral(url.hostname, ownHosts);
    return url;
  }

  /** Throws `OutboundRefused` for a host that is a forbidden address; names pass. */
  checkLiteral(host: string, ownHosts?: ReadonlySet<string>): void {
    const literal = literalOf(host);
    if (literal !== undefined && !this.allowsFor(host, literal, ownHosts))
      throw new OutboundRefused('address');
  }

  /** Throws `OutboundRefused` for plain http, except to an address (not a name) that is one of the exceptions. */
  checkEncrypted({ protocol, hostname }: Readonly<URL>): void {
    const literal = literalOf(hostname);
    const isException = literal !== undefined && isIn(this.rules().list, literal);
    if (protocol !== 'https:' && !isException) throw new OutboundRefused('plain');
  }

  /** The addresses to connect to. Throws `OutboundRefused` when one of them is not allowed, and what the resolver throws. */
  async addressesOf(host: string, ownHosts?: ReadonlySet<string>): Promise<readonly string[]> {
    this.checkLiteral(host, ownHosts);
    const addresses = await this.names.addressesOf(host);
    if (!addresses.every((address) => this.allowsFor(host, address, ownHosts)))
      throw new OutboundRefused('address');
    return addresses;
  }

  /**
   * Whether a name is one of `outbound.proxy_hosts`, which the proxy resolves instead of the gateway. An address never
   * is.
   */
  isProxyName(host: string): boolean {
    const name = host.toLowerCase();
    return literalOf(host) === undefined && isAmong(name, this.rules().proxyNames);
  }

  private allowsFor(host: string, address: string, ownHosts: ReadonlySet<string> | undefined): boolean {
    if (this.allows(address)) return true;
    return ownHosts?.has(host) === true && isIP(address) !== 0 && !NEVER.check(address, familyOf(address));
  }

  allows(address: string): boolean {
    const { list, verdicts } = this.rules();
    const known = verdicts.get(address);
    if (known !== undefined) return known;
    return remember(verdicts, address, isPublicAddress(address) || isIn(list, address));
  }

  /** The networks that are allowed without being public. */
  get allowedNetworks(): readonly string[] {
    return this.rules().exceptions;
  }

  private rules(): Rules {
    const { current } = this.settings;
    if (this.known?.of !== current) {
      const exceptions = exceptionsOf(current);
      const list = addressRanges(exceptions);
      const proxyNames = current.outbound.proxy_hosts.map((pattern) => pattern.toLowerCase());
      this.known = { of: current, exceptions, list, proxyNames, verdicts: new Map(), urls: new Map() };
    }
    return this.known;
  }
}

/** Networks without IPv4 reach it by these addresses (RFC 6052): what a resolver answers there for any host of IPv4. */
function throughNat64(range: string): string {
  const [address = '', prefix] = range.split('/');
  return `64:ff9b::${address}/${96 + Number(prefix)}`;
}

function isIn(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, familyOf(address));
}

function remember<Value>(known: Map<string, Value>, key: string, value: Value): Value {
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(key, value);
  return value;
}

function exceptionsOf({ security, database }: GatewaySettings): readonly string[] {
  const { allow_private_networks: networks, allow_loopback: loopback } = security;
  // With the embedded database someone tries things out on one machine, and so do the receivers.
  const isOpen = loopback === 'always' || (loopback === 'auto' && database.url === '');
  return isOpen ? [...networks, ...LOOPBACK] : networks;
}

/** The address that a URL's host stands for without a look-up; `localhost` has one by definition (RFC 6761). */
function literalOf(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return bare;
  return /(^|\.)localhost\.?$/i.test(bare) ? '127.0.0.1' : undefined;
}

/** The ports that browsers refuse for http and https (WHATWG Fetch, "port blocking"), and those of data stores. */
const FORBIDDEN_PORTS = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103],
  ...[
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
  ],
  ...[515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723],
  ...[2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
  ...[1433, 1521, 3306, 5432, 6379, 11211, 27017],
]);

/** Whether a URL names a port on which something other than HTTP usually listens. */
function isForbiddenPort(url: URL): boolean {
  return url.port !== '' && FORBIDDEN_PORTS.has(Number(url.port));
}
