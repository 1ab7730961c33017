import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { compactVerify, errors } from 'jose';
import { Forbidden } from '../../common/errors/gateway-error.js';
import { SecretBox } from '../secrets/secret-box.js';
import { type Caller, ownersOf } from '../tokens/caller.js';
import { CredentialRevisions } from '../tokens/credential-revisions.js';
import type { LookUpGate } from '../tokens/token-directory.js';
import { credentialOf, Denials, identityOf } from './denials.service.js';
import { sealIdentityToken } from './identity-token.js';
import { JwtIssuers } from './jwt-issuers.service.js';
import { type PresentedJwt, readJwt } from './presented-jwt.js';
import { grantOf } from './role-grant.js';

const MAX_KNOWN = 20_000;
const MAX_FORGED = 2000;
const MAX_SEEN = 20_000;

interface KnownJwt {
  /** Undefined for a valid token without a role. */
  readonly caller: Caller | undefined;
  readonly owners: readonly string[];
  readonly expiresAtMs: number;
  /** The revision of denials at which it was looked up. */
  denials: string | undefined;
}

interface NewJwt {
  readonly hash: string;
  readonly read: PresentedJwt;
  /** Those by which it was read; others may be in force when its signature is verified. */
  readonly issuers: ReturnType<JwtIssuers['all']>;
}

/** The token is valid, but no role is configured for its claims. */
class NoRole extends Forbidden {
  constructor() {
    super(
      'This token is valid, but none of its roles is known here. Ask an administrator for a role that [auth.jwt.<name>.roles] names.',
      { details: { reason: 'no_role' } },
    );
  }
}

/**
 * Finds the caller of a JSON Web Token. Results are cached until the token expires, so that no signature is verified
 * twice and the issuer is never asked about a single token; denials are looked up again whenever their revision
 * changes.
 */
@Injectable()
export class JwtDirectory {
  /** By the hash of the token, so that no usable token is kept in memory. */
  private readonly known = new Map<string, KnownJwt>();
  private readonly forged = new Set<string>();
  /** Tokens that were valid earlier: after a change of settings they are verified again without asking the gate. */
  private readonly seen = new Set<string>();
  private readonly loading = new Map<string, Promise<KnownJwt | undefined>>();

  constructor(
    private readonly issuers: JwtIssuers,
    private readonly denials: Denials,
    private readonly revisions: CredentialRevisions,
    private readonly box: SecretBox,
  ) {
    issuers.onKeysFetched(() => this.forged.clear());
    issuers.onReconfigured(() => {
      this.known.clear();
      this.forged.clear();
      this.loading.clear();
    });
  }

  /**
   * Returns without a promise when the token was seen before. The gate is asked before a signature is verified. Rejects
   * with `NoRole`, with `Unavailable` when keys or denials cannot be read, and with what the gate throws.
   */
  find(presented: string, gate?: () => LookUpGate): Caller | undefined | Promise<Caller | undefined> {
    const issuers = this.issuers.all();
    if (issuers.size === 0) return undefined;
    const hash = hashOf(presented);
    const known = this.known.get(hash);
    if (known?.caller !== undefined && this.revisions.isFresh() && known.denials === this.revisions.denials) {
      return known.expiresAtMs > Date.now() ? known.caller : undefined;
    }
    if (known !== undefined) return this.admit(known);
    if (this.forged.has(hash)) return undefined;
    const read = readJwt(presented, issuers, Date.now());
    return read === undefined ? undefined : this.findNew({ hash, read, issuers }, gate);
  }

  /**
   * Whether what this token opened may continue. It ends when the token expires, is denied, or is no longer valid under
   * changed settings.
   */
  async mayGoOn(presented: string): Promise<boolean> {
    try {
      return (await this.find(presented)) !== undefined;
    } catch (error) {
      if (error instanceof NoRole) return false;
      throw error;
    }
  }

  private async findNew(token: NewJwt, gate: (() => LookUpGate) | undefined): Promise<Caller | undefined> {
    const loading = this.loading.get(token.hash) ?? this.load(token, gate?.());
    const known = await loading;
    return known && this.admit(known);
  }

  private load(token: NewJwt, gate: LookUpGate | undefined): Promise<KnownJwt | undefined> {
    const { hash } = token;
    const begun = this.verifyBehind(token, gate).finally(() => {
      if (this.loading.get(hash) === begun) this.loading.delete(hash);
    });
    this.loading.set(hash, begun);
    return begun;
  }

  private async verifyBehind(
    { hash, read, issuers }: NewJwt,
    gate: LookUpGate | undefined,
  ): Promise<KnownJwt | undefined> {
    const asked = this.seen.has(hash) ? undefined : gate;
    await asked?.enter();
    let known: KnownJwt | undefined;
    try {
      known = (await this.isSigned(hash, read, asked))
        ? knownJwt(read, this.identityTokenOf(read))
        : undefined;
      // Changed settings may give it other roles: use it once, and do not keep it.
      if (known !== undefined && issuers === this.issuers.all()) this.remember(hash, known);
    } finally {
      asked?.leave(known !== undefined);
    }
    return known;
  }

  private identityTokenOf({ text, issuer, subject }: PresentedJwt): { identityToken?: string } {
    if (!this.issuers.areForTools(issuer)) return {};
    return { identityToken: sealIdentityToken(this.box, identityOf(issuer.issuer, subject), text) };
  }

  private async isSigned(
    hash: string,
    { text, header, issuer }: PresentedJwt,
    gate: LookUpGate | undefined,
  ): Promise<boolean> {
    const keys = this.issuers.keysOf(issuer);
    if (keys === undefined) return false;
    const fetched = () => keys.keyFor(header);
    // Others need not wait while the keys of an issuer are fetched.
    const key =
      (await keys.keyAtHand(header)) ?? (await (gate === undefined ? fetched() : gate.outside(fetched)));
    if (key === undefined) return false;
    try {
      await compactVerify(text, key, { algorithms: [header.alg] });
      return true;
    } catch (error) {
      if (!(error instanceof errors.JOSEError || error instanceof TypeError)) throw error;
      if (this.forged.size >= MAX_FORGED) this.forged.clear();
      this.forged.add(hash);
      return false;
    }
  }

  private async admit(known: KnownJwt): Promise<Caller | undefined> {
    if (known.expiresAtMs <= Date.now()) return undefined;
    if (!(await this.isAllowed(known))) return undefined;
    if (known.caller === undefined) throw new NoRole();
    return known.caller;
  }

  private async isAllowed(known: KnownJwt): Promise<boolean> {
    if (!this.revisions.isFresh()) await this.revisions.confirm();
    const { denials } = this.revisions;
    if (known.denials === denials) return true;
    if (await this.denials.isAnyDenied(known.owners)) return false;
    known.denials = denials;
    return true;
  }

  private remember(hash: string, known: KnownJwt): void {
    if (this.known.size >= MAX_KNOWN) this.makeRoom();
    this.known.set(hash, known);
    if (this.seen.size >= MAX_SEEN) this.seen.clear();
    this.seen.add(hash);
  }

  /** Removes the expired ones first, then the older half. */
  private makeRoom(): void {
    const now = Date.now();
    for (const [hash, { expiresAtMs }] of this.known) if (expiresAtMs <= now) this.known.delete(hash);
    for (const hash of this.known.keys()) {
      if (this.known.size <= MAX_KNOWN / 2) return;
      this.known.delete(hash);
    }
  }
}

function knownJwt(
  { issuer, subject, jti, claims, expiresAtMs }: PresentedJwt,
  identityToken: Pick<Caller, 'identityToken'>,
): KnownJwt {
  const identity = identityOf(issuer.issuer, subject);
  const credential = jti === undefined ? {} : { credential: credentialOf(issuer.issuer, jti) };
  const owners = ownersOf({ tokenId: identity, ...credential });
  const life = { owners, expiresAtMs, denials: undefined };
  const grant = grantOf(claims, issuer);
  if (grant === undefined) return { ...life, caller: undefined };
  const { scopes, agents, roles, bound } = grant;
  const caller: Caller = {
    tokenId: identity,
    tokenName: identity,
    scopes,
    boundUserId: bound ? identity : null,
    verifiedUserId: identity,
    expiresAtMs,
    roles,
    ...credential,
    ...identityToken,
    ...(agents === undefined ? {} : { agents }),
  };
  return { ...life, caller };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
