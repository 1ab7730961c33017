import { type DpopKeyPair, DpopSession, generateDpopKeyPair } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, importJWK, type JWK } from 'jose';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { isOfNoUse } from './bound-requests.js';
import { algorithmFor, type DpopMode, type ProofAlgorithm } from './dpop-terms.js';

/** More than any installation has tool servers, with those of earlier sign-ins. */
const MAX_KEYS = 1000;
/** RFC 9449, 8.1. What a nonce has beyond that would only make requests long. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/;

/** A private key in a form that can be stored, sealed. */
export interface StoredProofKey {
  readonly alg: ProofAlgorithm;
  readonly jwk: JWK;
}

/**
 * The keys to which tokens are bound, with the nonces that servers gave for their proofs (RFC 9449). Tokens that are requested anew at
 * any time are bound to a key that this process alone has and that cannot be read; those of a sign-in to one that is stored with them.
 */
@Injectable()
export class ProofKeys {
  private readonly sessions = new Map<string, Promise<DpopSession>>();

  /** @param max how many are remembered; a token keeps the key that it is bound to in any case */
  constructor(private readonly max = MAX_KEYS) {}

  /**
   * The key for tokens of this server by this issuer, which nobody else sees; undefined where they are not bound, and with
   * `auto` for a server that turned out not to take it. Throws `TokenNotBound`.
   * @param offered the algorithms in the metadata of the issuer, unchecked
   */
  async keyFor(
    { url }: McpServerSettings,
    mode: DpopMode,
    issuer: string,
    offered: unknown,
  ): Promise<DpopSession | undefined> {
    const alg = algorithmFor(mode, issuer, offered);
    if (alg === undefined) return undefined;
    const key = await this.once(JSON.stringify([url, issuer, alg]), async () => generateDpopKeyPair({ alg }));
    return mode === 'auto' && isOfNoUse(key) ? undefined : key;
  }

  /** The key that was stored; the same for all who ask, so that they share its nonces. */
  async restored({ alg, jwk }: StoredProofKey): Promise<DpopSession> {
    const { kty, crv, x, y } = jwk;
    const publicJwk = { kty, crv, x, ...(y === undefined ? {} : { y }) } as JWK;
    const thumbprint = await calculateJwkThumbprint(publicJwk);
    return this.once(thumbprint, async () => ({
      privateKey: await imported(jwk, alg),
      publicKey: await imported(publicJwk, alg),
      ...{ publicJwk, thumbprint, alg },
    }));
  }

  private async once(name: string, make: () => Promise<DpopKeyPair>): Promise<DpopSession> {
    const known = this.sessions.get(name);
    const session = known ?? make().then(sessionOf);
    this.sessions.delete(name);
    const [oldest] = this.sessions.keys();
    if (oldest !== undefined && this.sessions.size >= this.max) this.sessions.delete(oldest);
    this.sessions.set(name, session);
    return session.catch((error: unknown) => {
      this.sessions.delete(name);
      throw error;
    });
  }
}

/** A key that is to be stored. */
export async function newProofKey(alg: ProofAlgorithm): Promise<StoredProofKey> {
  const { privateKey } = await generateDpopKeyPair({ alg, extractable: true });
  return { alg, jwk: await exportJWK(privateKey) };
}

/** The library's, which makes the proofs, without nonces that are none. */
async function sessionOf(keyPair: DpopKeyPair): Promise<DpopSession> {
  const session = await DpopSession.create({ keyPair });
  const remember = session.rememberNonce.bind(session);
  session.rememberNonce = (url, nonce) => {
    if (NONCE.test(nonce)) remember(url, nonce);
  };
  return session;
}

async function imported(jwk: JWK, alg: string): Promise<CryptoKey> {
  const key = await importJWK(jwk, alg, { extractable: false });
  if (key instanceof Uint8Array) throw new Error('A key for proofs is not symmetric.');
  return key;
}
