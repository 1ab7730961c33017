import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type CryptoKey, importJWK, type JWK, SignJWT } from 'jose';
import { Unavailable } from '../../common/errors/gateway-error.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Poller } from '../../platform/runtime/poller.js';
import { Settings } from '../../platform/settings/settings.js';
import { type AssertionKey, AssertionKeysStore } from './assertion-keys.store.js';

/** How often a replica reads other replicas' keys; a new key is published a day before it signs. */
const LOOK_MS = 60_000;
const RETRY_MS = 1000;
const LIFETIME_SECS = 60;
const DEFAULT_ISSUER = 'agent-gateway';

/** What an assertion says. */
export interface AssertionClaims {
  /** The user whom the gateway vouches for; undefined for the gateway itself. */
  readonly user: string | undefined;
  readonly audience: string | readonly string[];
  readonly sessionId?: string | undefined;
  readonly agent?: string | undefined;
  readonly channel?: string | undefined;
}

/** The gateway has no key to sign with, because the database could not be read so far. */
class NoAssertionKey extends Unavailable {
  constructor() {
    super(
      'There is no key to sign assertions with yet: the database could not be read, or the master key opens none.',
    );
  }
}

const UNREAD = 'the keys of assertions could not be read';

/** Signs for whom the gateway acts at a tool server, with a key that all replicas share, and publishes the keys. */
@Injectable()
export class Assertions implements OnApplicationBootstrap, OnModuleDestroy {
  private keys: readonly AssertionKey[] = [];
  private signing: { readonly kid: string; readonly key: CryptoKey | Uint8Array } | undefined;
  private loading: Promise<void> | undefined;
  private readonly poller = new Poller({
    everyMs: () => (this.keys.length === 0 ? RETRY_MS : LOOK_MS),
    look: () => this.load(),
    failed: (error) => this.logger.warn(UNREAD, { reason: String(error) }),
  });
  private readonly logger: Logger;

  constructor(
    private readonly store: AssertionKeysStore,
    private readonly settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('assertions');
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
  }

  /** The `iss` for verifiers: the public URL of the gateway, if it has one. */
  get issuer(): string {
    return this.settings.current.gateway.public_url || DEFAULT_ISSUER;
  }

  /** A JWT of 60 seconds with an id of its own. Throws `NoAssertionKey`. */
  async sign({ user, audience, sessionId, agent, channel }: AssertionClaims): Promise<string> {
    if (this.signing === undefined) await this.load();
    if (this.signing === undefined) throw new NoAssertionKey();
    const { kid, key } = this.signing;
    const claims = { session_id: sessionId, agent, channel };
    return (
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' })
        .setIssuer(this.issuer)
        // As for a JWT's user: issuer and subject. No user id of another caller has this form.
        .setSubject(user ?? `${this.issuer}|gateway`)
        .setAudience(typeof audience === 'string' ? audience : [...audience])
        .setIssuedAt()
        .setExpirationTime(`${LIFETIME_SECS} s`)
        .setJti(randomUUID())
        .sign(key)
    );
  }

  /** The public keys: those that sign, signed recently, or will sign. Throws `NoAssertionKey`. */
  async publicKeys(): Promise<readonly JWK[]> {
    if (this.keys.length === 0) await this.load();
    if (this.keys.length === 0) throw new NoAssertionKey();
    return this.keys.map(({ publicKey }) => publicKey);
  }

  /** Never rejects: with the earlier keys everything continues. */
  private load(): Promise<void> {
    this.loading ??= this.reload()
      .catch((error: unknown) => {
        this.logger.warn(UNREAD, { reason: String(error) });
      })
      .finally(() => (this.loading = undefined));
    return this.loading;
  }

  private async reload(): Promise<void> {
    const keys = await this.store.current();
    const newest = keys.findLast(({ signs }) => signs);
    if (newest !== undefined && newest.kid !== this.signing?.kid)
      this.signing = { kid: newest.kid, key: await importJWK(newest.privateKey, 'EdDSA') };
    this.keys = keys;
  }
}
