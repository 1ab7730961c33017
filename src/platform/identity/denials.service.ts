import { Injectable } from '@nestjs/common';
import { originJson } from '../audit-log/audit-log.js';
import { auditedSql } from '../audit-log/audited.sql.js';
import { Database } from '../database/database.js';
import { columnsOf } from '../database/entity-columns.js';
import { arrayOf, jsonb, nullable, text } from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import { HOLD_CHANGES } from '../tokens/token.sql.js';
import { LOCK_IDENTITY, TokenEndings } from '../tokens/token-endings.js';
import { IdentityDenialEntity } from './identity-denial.entity.js';

/** A subject with everything it holds, or one token. */
export type DeniedIdentity =
  | { readonly issuer: string; readonly subject: string }
  | { readonly issuer: string; readonly jti: string };

export interface Denial {
  readonly issuer: string;
  readonly subject: string | null;
  readonly jti: string | null;
  readonly deniedAt: Date;
  readonly deniedBy: string;
}

const COLUMNS = 'issuer, subject, jti, denied_at, denied_by';
const DENIAL = columnsOf(IdentityDenialEntity, 'issuer', 'subject', 'jti', 'deniedAt', 'deniedBy');
const AUDITED = (action: string, from: string): string =>
  auditedSql({
    ...{ action, from, origin: ':origin', subject: 'owner' },
    details: `jsonb_strip_nulls(jsonb_build_object('issuer', issuer, 'subject', subject, 'jti', jti))`,
  });
const DENY = statement({
  name: 'identities.deny',
  params: {
    ...{ owner: text, issuer: text, subject: nullable(text), jti: nullable(text), by: text },
    origin: jsonb(),
  },
  row: DENIAL,
  sql: `
    WITH made AS (
      INSERT INTO identity_denials (owner, issuer, subject, jti, denied_by) VALUES (:owner, :issuer, :subject, :jti, :by)
      ON CONFLICT (owner) DO NOTHING RETURNING owner, ${COLUMNS}
    ), audited AS (${AUDITED('identity.denied', 'made')})
    SELECT ${COLUMNS} FROM made`,
});
const ALLOW = statement({
  name: 'identities.allow',
  params: { owner: text, origin: jsonb() },
  row: DENIAL,
  sql: `
    WITH gone AS (DELETE FROM identity_denials WHERE owner = :owner RETURNING owner, ${COLUMNS}),
    audited AS (${AUDITED('identity.allowed', 'gone')})
    SELECT ${COLUMNS} FROM gone`,
});
const LIST = statement({
  name: 'identities.denied',
  params: {},
  row: DENIAL,
  sql: `SELECT ${COLUMNS} FROM identity_denials ORDER BY denied_at DESC, owner LIMIT 10000`,
});
const AMONG = statement({
  name: 'identities.denied_among',
  comesFirst: true,
  timeoutMs: 5000,
  params: { owners: arrayOf(text) },
  row: columnsOf(IdentityDenialEntity, 'owner'),
  sql: `SELECT owner FROM identity_denials WHERE owner = ANY (:owners)`,
});

/** The user id of an identity, everywhere in the gateway. */
export function identityOf(issuer: string, subject: string): string {
  return `${issuer}|${subject}`;
}

/** The name of one token of an issuer. No identity starts like this, since issuers are URLs. */
export function credentialOf(issuer: string, jti: string): string {
  return `jti:${issuer}|${jti}`;
}

/** Refuses identities and single tokens of the company's identity provider, and ends what they made. */
@Injectable()
export class Denials {
  constructor(
    private readonly database: Database,
    private readonly endings: TokenEndings,
  ) {}

  /**
   * Every replica refuses it within a second and a half. What it made ends in the same transaction: tokens, webhooks
   * and waiting messages; streams and running turns follow. Returns false when it was denied already; what it made
   * since then ends too.
   */
  deny(denied: DeniedIdentity, by: string): Promise<boolean> {
    const owner = ownerOf(denied);
    const [subject, jti] = 'subject' in denied ? [denied.subject, null] : [null, denied.jti];
    return this.database.transaction(async (runner) => {
      await runner.query(HOLD_CHANGES);
      await runner.query(LOCK_IDENTITY, { owner });
      const made = await runner.query(DENY, {
        ...{ owner, issuer: denied.issuer, subject, jti, by },
        origin: originJson(),
      });
      await this.endings.end(runner, [owner]);
      return made.length > 0;
    });
  }

  /** Lifts a denial; what the denial ended stays ended. Returns false when there was none. */
  async allow(denied: DeniedIdentity): Promise<boolean> {
    return (await this.database.query(ALLOW, { owner: ownerOf(denied), origin: originJson() })).length > 0;
  }

  /** Newest first, at most 10,000. */
  async list(): Promise<Denial[]> {
    return (await this.database.query(LIST)).map((row) => ({
      issuer: row.issuer,
      subject: row.subject,
      jti: row.jti,
      deniedAt: row.denied_at,
      deniedBy: row.denied_by,
    }));
  }

  /** Whether one of these owners (`ownersOf`) is denied. */
  async isAnyDenied(owners: readonly string[]): Promise<boolean> {
    return (await this.database.query(AMONG, { owners })).length > 0;
  }
}

function ownerOf(denied: DeniedIdentity): string {
  return 'subject' in denied
    ? identityOf(denied.issuer, denied.subject)
    : credentialOf(denied.issuer, denied.jti);
}
