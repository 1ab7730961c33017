import { Injectable } from '@nestjs/common';
import { originJson } from '../audit-log/audit-log.js';
import { auditedSql } from '../audit-log/audited.sql.js';
import { Database } from '../database/database.js';
import type { Statement } from '../database/sql.js';
import { HOLD_CHANGES } from '../tokens/token.sql.js';
import { LOCK_IDENTITY, TokenEndings } from '../tokens/token-endings.js';

/** Everything of a subject, or one token. */
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

interface DenialRow {
  issuer: string;
  subject: string | null;
  jti: string | null;
  denied_at: Date;
  denied_by: string;
}

const COLUMNS = 'issuer, subject, jti, denied_at, denied_by';
const AUDITED = (action: string, from: string, origin: string): string =>
  auditedSql({
    ...{ action, from, origin, subject: 'owner' },
    details: `jsonb_strip_nulls(jsonb_build_object('issuer', issuer, 'subject', subject, 'jti', jti))`,
  });
const DENY: Statement = {
  name: 'identities.deny',
  text: `
    WITH made AS (
      INSERT INTO identity_denials (owner, issuer, subject, jti, denied_by) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (owner) DO NOTHING RETURNING owner, ${COLUMNS}
    ), audited AS (${AUDITED('identity.denied', 'made', '$6')})
    SELECT ${COLUMNS} FROM made`,
};
const ALLOW: Statement = {
  name: 'identities.allow',
  text: `
    WITH gone AS (DELETE FROM identity_denials WHERE owner = $1 RETURNING owner, ${COLUMNS}),
    audited AS (${AUDITED('identity.allowed', 'gone', '$2')})
    SELECT ${COLUMNS} FROM gone`,
};
const LIST: Statement = {
  name: 'identities.denied',
  text: `SELECT ${COLUMNS} FROM identity_denials ORDER BY denied_at DESC, owner LIMIT 10000`,
};
const AMONG: Statement = {
  name: 'identities.denied_among',
  comesFirst: true,
  timeoutMs: 5000,
  text: `SELECT owner FROM identity_denials WHERE owner = ANY ($1)`,
};

/** The user that an identity is, everywhere in the gateway. */
export function identityOf(issuer: string, subject: string): string {
  return `${issuer}|${subject}`;
}

/** The name of one token of an issuer; no identity begins like this, since issuers are URLs. */
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
   * Every replica refuses it within a second and a half. What it made ends in the same transaction: tokens, webhooks and
   * waiting messages; streams and running turns follow. False when it was denied already: then what came since ends, too.
   */
  deny(denied: DeniedIdentity, by: string): Promise<boolean> {
    const owner = ownerOf(denied);
    const [subject, jti] = 'subject' in denied ? [denied.subject, null] : [null, denied.jti];
    return this.database.transaction(async (runner) => {
      await runner.query(HOLD_CHANGES);
      await runner.query(LOCK_IDENTITY, [[owner]]);
      const made = await runner.query(DENY, [owner, denied.issuer, subject, jti, by, originJson()]);
      await this.endings.end(runner, [owner]);
      return made.length > 0;
    });
  }

  /** Lifts a denial; what it ended stays ended. False when there was none. */
  async allow(denied: DeniedIdentity): Promise<boolean> {
    return (await this.database.query(ALLOW, [ownerOf(denied), originJson()])).length > 0;
  }

  /** Newest first, at most 10,000. */
  async list(): Promise<Denial[]> {
    return (await this.database.query<DenialRow>(LIST)).map((row) => ({
      issuer: row.issuer,
      subject: row.subject,
      jti: row.jti,
      deniedAt: row.denied_at,
      deniedBy: row.denied_by,
    }));
  }

  /** Whether one of these owners (`ownersOf`) is denied. */
  async isAnyDenied(owners: readonly string[]): Promise<boolean> {
    return (await this.database.query(AMONG, [[...owners]])).length > 0;
  }
}

function ownerOf(denied: DeniedIdentity): string {
  return 'subject' in denied
    ? identityOf(denied.issuer, denied.subject)
    : credentialOf(denied.issuer, denied.jti);
}
