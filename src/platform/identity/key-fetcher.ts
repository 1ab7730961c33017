import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import type { JSONWebKeySet, JWK } from 'jose';
import { OutboundClient } from '../outbound/outbound-client.js';
import type { JwtIssuerSettings } from '../settings/sections/auth.section.js';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 262_144;
const MAX_KEYS = 100;
const MAX_TOKEN_BYTES = 65_536;
const DISCOVERY = '.well-known/openid-configuration';

/** Fetches the public keys of an issuer through the guarded client: found by discovery, or where the settings say. */
@Injectable()
export class KeyFetcher {
  constructor(private readonly outbound: OutboundClient) {}

  /** Throws a sentence that says what failed and contains nothing of the response. */
  async fetch(name: string, issuer: JwtIssuerSettings): Promise<JSONWebKeySet> {
    const url = issuer.jwks_url === '' ? await this.discover(name, issuer) : issuer.jwks_url;
    const { keys } = await this.get(name, issuer, url);
    if (!Array.isArray(keys)) throw new Error(`${url} is no JSON Web Key Set: it has no list "keys".`);
    const usable = keys.filter(isPublicKey).slice(0, MAX_KEYS);
    if (usable.length === 0) throw new Error(`${url} lists no public key for signatures.`);
    return { keys: usable };
  }

  private async discover(name: string, issuer: JwtIssuerSettings): Promise<string> {
    const url = `${issuer.issuer.replace(/\/$/, '')}/${DISCOVERY}`;
    const document = await this.get(name, issuer, url);
    if (document['issuer'] !== issuer.issuer) {
      throw new Error(
        `${url} names another issuer than auth.jwt.${name}.issuer; both must be the same text.`,
      );
    }
    const { jwks_uri: keys } = document;
    if (typeof keys !== 'string') throw new Error(`${url} has no "jwks_uri".`);
    // Anyone on the way could replace keys that come without TLS, and then sign tokens.
    if (issuer.issuer.startsWith('https:') && !keys.startsWith('https:'))
      throw new Error(`${url} names a "jwks_uri" that is not https.`);
    return keys;
  }

  private async get(name: string, issuer: JwtIssuerSettings, url: string): Promise<Record<string, unknown>> {
    const hosts = ownHostsOf(issuer);
    const token = hosts.has(hostOf(url)) ? await tokenOf(issuer) : undefined;
    const headers = {
      accept: 'application/json, application/jwk-set+json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const call = { method: 'GET', url, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES } as const;
    const terms = { hosts, caFile: issuer.ca_file, caKey: `auth.jwt.${name}.ca_file` };
    const { status, body } = await this.outbound.readOwn(call, terms).catch((error: unknown) => {
      throw new Error(`${url} cannot be read: ${error instanceof Error ? error.message : 'unknown'}`);
    });
    if (status !== 200) throw new Error(`${url} answered ${status}.`);
    return objectOf(url, body);
  }
}

function objectOf(url: string, body: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null)
    throw new Error(`${url} did not answer with a JSON object.`);
  return value as Record<string, unknown>;
}

/** Asymmetric, for signatures, and without the private part. */
function isPublicKey(key: unknown): key is JWK {
  if (typeof key !== 'object' || key === null) return false;
  const { kty, use, d } = key as JWK;
  return (
    (kty === 'RSA' || kty === 'EC' || kty === 'OKP') &&
    (use === undefined || use === 'sig') &&
    d === undefined
  );
}

/** The hosts that the settings name. Other hosts in a discovery document must be public. */
function ownHostsOf({ issuer, jwks_url: url }: JwtIssuerSettings): ReadonlySet<string> {
  return new Set([issuer, url].filter((text) => text !== '').map(hostOf));
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

/** Read at each fetch: Kubernetes replaces it every hour. */
async function tokenOf({ jwks_token_file: file }: JwtIssuerSettings): Promise<string | undefined> {
  if (file === '') return undefined;
  const text = await readFile(file).catch(() => {
    throw new Error(`jwks_token_file ${file} cannot be read.`);
  });
  return text.subarray(0, MAX_TOKEN_BYTES).toString('latin1').trim();
}
