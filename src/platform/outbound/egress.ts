import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type BlockList, isIP } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { percentDecoded } from '../../common/text/percent-decoded.js';
import type { EgressVariables } from '../settings/environment.js';
import { addressRanges, familyOf } from './address-ranges.js';

/** A proxy of the company, as the environment names it. It is trusted: the guard does not check its address. */
export interface CompanyProxy {
  readonly protocol: 'http:' | 'https:';
  readonly hostname: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`; undefined for a proxy that needs none. */
  readonly authorization: string | undefined;
}

/** Where a call goes: the protocol with its colon, the host as in a URL, the port as a number. */
export interface Destination {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: number;
}

/** What a connection needs to know to leave the network. */
export type WayOut = Pick<Egress, 'proxyFor' | 'secureContext'>;

const BEGIN = '-----BEGIN CERTIFICATE-----';
const LOOPBACK = addressRanges(['127.0.0.0/8', '::1/128']);

/**
 * How connections leave the company's network: through which proxy, and which authorities TLS trusts besides Node's
 * own. `AddressGuard` decides where a call may go, with or without a proxy.
 */
export class Egress {
  private readonly secure: CompanyProxy | undefined;
  private readonly plain: CompanyProxy | undefined;
  private readonly exceptions: readonly NoProxyRule[];
  private readonly extraCaFile: string | undefined;
  /** What TLS trusts; undefined for Node's own default, `NODE_EXTRA_CA_CERTS` included. */
  readonly secureContext: SecureContext | undefined;

  /**
   * @param caFile `outbound.ca_file`: a PEM file of authorities; empty for none
   * Throws one sentence for a variable or a file that is wrong; it repeats no password.
   */
  constructor(
    variables: EgressVariables,
    private readonly caFile: string,
  ) {
    this.extraCaFile = variables.extraCaFile;
    this.secure = proxyOf('HTTPS_PROXY', variables.httpsProxy);
    this.plain = proxyOf('HTTP_PROXY', variables.httpProxy);
    this.exceptions = noProxyRules(variables.noProxy ?? '');
    this.secureContext = caFile === '' ? undefined : contextWith(this.authorityFiles);
  }

  /** No proxy, and no further authorities. */
  static direct(): Egress {
    return new Egress(
      { httpsProxy: undefined, httpProxy: undefined, noProxy: undefined, extraCaFile: undefined },
      '',
    );
  }

  /**
   * The same proxies, trusting one more PEM file of authorities, which is read now. For a file that is wrong, throws
   * one sentence that begins with the key of the setting.
   */
  trusting(key: string, file: string): WayOut {
    const secureContext = contextWith([...this.authorityFiles, [key, file]]);
    return { secureContext, proxyFor: (destination) => this.proxyFor(destination) };
  }

  private get authorityFiles(): [key: string, file: string][] {
    const files: [string, string | undefined][] = [
      ['outbound.ca_file', this.caFile],
      ['NODE_EXTRA_CA_CERTS', this.extraCaFile],
    ];
    return files.filter((one): one is [string, string] => one[1] !== undefined && one[1] !== '');
  }

  /** The proxy for a destination; undefined for a direct connection, which this machine itself always gets. */
  proxyFor(destination: Destination): CompanyProxy | undefined {
    const proxy = destination.protocol === 'https:' ? this.secure : this.plain;
    if (proxy === undefined || isThisMachine(destination.hostname)) return undefined;
    return this.exceptions.some((matches) => matches(destination)) ? undefined : proxy;
  }
}

function proxyOf(variable: string, text: string | undefined): CompanyProxy | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error(`${variable} must be the URL of an HTTP proxy, such as http://proxy.example.com:3128.`);
  }
  const { username, password, protocol } = url;
  const credentials = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return {
    protocol,
    hostname: url.hostname,
    port: Number(url.port) || (protocol === 'https:' ? 443 : 80),
    authorization: username === '' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

type NoProxyRule = (destination: Destination) => boolean;

function noProxyRules(text: string): NoProxyRule[] {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.map((entry) => noProxyRule(entry.toLowerCase()));
}

/** `*`, a host or a domain with or without a leading dot or `*.`, an address or a range; a port narrows it. */
function noProxyRule(entry: string): NoProxyRule {
  if (entry === '*') return () => true;
  const range = rangeOf(entry);
  if (range !== undefined) return ({ hostname }) => isWithin(range, bare(hostname));
  const [, host = '', port = ''] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  const domain = host.replace(/^\*?\./, '');
  return ({ hostname, port: asked }) => {
    const name = bare(hostname).toLowerCase();
    const isHost = name === bare(domain) || (isIP(name) === 0 && name.endsWith(`.${domain}`));
    return isHost && (port === '' || Number(port) === asked);
  };
}

function rangeOf(entry: string): BlockList | undefined {
  const [address = '', prefix] = entry.split('/');
  if (isIP(address) === 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined;
  return addressRanges([entry]);
}

function isThisMachine(hostname: string): boolean {
  const name = bare(hostname);
  return /(^|\.)localhost\.?$/i.test(name) || isWithin(LOOPBACK, name);
}

function isWithin(range: BlockList, address: string): boolean {
  return isIP(address) !== 0 && range.check(address, familyOf(address));
}

/** An IPv6 address without the brackets that a URL puts around it. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Made once: reading about 150 authorities again for each connection would take milliseconds. */
function contextWith(files: readonly (readonly [key: string, file: string])[]): SecureContext {
  const own = files.map(([key, file]) => pemOf(key, file));
  return createSecureContext({ ca: [...rootCertificates, ...own] });
}

function pemOf(key: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code =
      typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unreadable';
    throw new Error(`${key}: ${file} cannot be read (${code}).`);
  }
  const [, ...certificates] = text.split(BEGIN);
  if (certificates.length === 0) {
    throw new Error(`${key}: ${file} holds no certificate in PEM form ("${BEGIN}").`);
  }
  // A secure context skips what it cannot read, and would then trust no one.
  for (const certificate of certificates) {
    try {
      new X509Certificate(BEGIN + certificate);
    } catch {
      throw new Error(`${key}: ${file} holds a certificate that cannot be read.`);
    }
  }
  return text;
}
