import { auditedSql } from '../audit-log/audited.sql.js';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { Statement } from '../database/sql.js';

/** The family of a token: what replaced one another. One that replaced none is the first of its own. */
const FAMILY = 'coalesce(family_id, id)';
const COLUMNS = `id, name, scopes, user_id, agents, ${FAMILY} AS family_id, maker_family, maker_credential, bootstrap_at, created_at, expires_at, last_used_at, revoked_at`;

/** The same columns, read from such a result. */
const COLUMNS_MADE = COLUMNS.replace(`${FAMILY} AS family_id`, 'family_id');

/** The audit entry of a change, in its statement. `origin` is the parameter that says who makes it, as JSON. */
const AUDITED = (action: string, from: string, origin: string): string =>
  auditedSql({
    ...{ action, from, origin, subject: 'name' },
    details: `jsonb_build_object('token_id', id, 'scopes', scopes, 'user_id', user_id, 'agents', agents, 'expires_at', expires_at)`,
  });

/** `onConflict` says what happens to a token with this very hash. Returns the rows that are new or changed. */
const insert = (name: string, bootstrapAt: string, onConflict: string): Statement => ({
  name,
  text: `
    WITH made AS (
      INSERT INTO api_tokens (id, name, sha256, scopes, user_id, expires_at, family_id, bootstrap_at, agents,
        maker_family, maker_credential)
      VALUES ($1, $2, $3, $4, $5, $6, $7, ${bootstrapAt}, $10, $11, $12) ON CONFLICT (sha256) ${onConflict} RETURNING ${COLUMNS}
    ), audited AS (${AUDITED('token.created', 'made', '$9')})
    SELECT ${COLUMNS_MADE} FROM made`,
});
export const INSERT = insert('tokens.insert_of_maker', '$8', 'DO NOTHING');
/** Later than any before, so that there is a newest one. `$8` is not needed, but keeps the statements alike. */
const NOW_THE_NEWEST = `
  greatest(clock_timestamp(), (SELECT max(bootstrap_at) + interval '1 millisecond' FROM api_tokens), $8::timestamptz)`;
export const INSTALL = insert(
  'tokens.install_of_maker',
  NOW_THE_NEWEST,
  `DO UPDATE SET bootstrap_at = excluded.bootstrap_at
   WHERE api_tokens.bootstrap_at IS NULL AND api_tokens.revoked_at IS NULL`,
);
/** Every request waits for these two; one that hangs must soon become a 503 and give up its connection. */
const TIMEOUT_MS = 5000;

export const FIND_BY_HASH: Statement = {
  name: 'tokens.find_by_hash',
  comesFirst: true,
  timeoutMs: TIMEOUT_MS,
  text: `SELECT ${COLUMNS} FROM api_tokens WHERE sha256 = $1 AND revoked_at IS NULL`,
};
export const LIST: Statement = {
  name: 'tokens.list',
  text: `SELECT ${COLUMNS} FROM api_tokens ORDER BY created_at DESC, id DESC`,
};
/** Newest first, after a time and an id. */
export const PAGE: Statement = {
  name: 'tokens.page',
  text: `
    SELECT ${COLUMNS} FROM api_tokens WHERE (created_at, id) < ($1::timestamptz, $2)
    ORDER BY created_at DESC, id DESC LIMIT $3`,
};
export const FIND_NAMED: Statement = {
  name: 'tokens.find_named',
  text: `SELECT ${COLUMNS} FROM api_tokens
         WHERE (id = $1 OR name = $1) AND revoked_at IS NULL ORDER BY created_at DESC`,
};
/** Also of revoked tokens: what tools keep for a name outlives them. */
export const NAME_IS_KNOWN: Statement = {
  name: 'tokens.name_is_known',
  text: `SELECT EXISTS (SELECT 1 FROM api_tokens WHERE name = $1) AS any`,
};
/** Revoking a token also revokes those that it replaced and that were kept for a while. */
export const REVOKE: Statement = {
  name: 'tokens.revoke',
  text: `
    WITH asked AS (
      SELECT ${FAMILY} AS family, created_at FROM api_tokens WHERE id = $1 AND revoked_at IS NULL
    ), ended AS (
      UPDATE api_tokens SET revoked_at = now() FROM asked
      WHERE ${FAMILY} = asked.family AND api_tokens.created_at <= asked.created_at AND revoked_at IS NULL
      RETURNING ${COLUMNS.replace('created_at', 'api_tokens.created_at')}
    ), audited AS (${AUDITED('token.revoked', 'ended', '$2')})
    SELECT ${COLUMNS_MADE} FROM ended`,
};
/** What these families, identities and single JWTs made, and what was replaced by it. */
export const REVOKE_MADE: Statement = {
  name: 'tokens.revoke_made',
  text: `
    WITH asked AS (
      SELECT ${FAMILY} AS family, max(created_at) AS created_at FROM api_tokens
      WHERE (maker_family = ANY ($1) OR maker_credential = ANY ($1)) AND revoked_at IS NULL GROUP BY 1
    ), ended AS (
      UPDATE api_tokens SET revoked_at = now() FROM asked
      WHERE ${FAMILY} = asked.family AND api_tokens.created_at <= asked.created_at AND revoked_at IS NULL
      RETURNING ${COLUMNS.replace('created_at', 'api_tokens.created_at')}
    ), audited AS (${AUDITED('token.revoked', 'ended', '$2')})
    SELECT DISTINCT family_id AS family FROM ended`,
};
/** Whether the family `$2` made the family `$1`, or something that did. */
export const IS_MADE_BY: Statement = {
  name: 'tokens.is_made_by',
  text: `
    WITH RECURSIVE makers AS (
      SELECT maker_family AS family FROM api_tokens WHERE ${FAMILY} = $1
      UNION
      SELECT maker_family FROM makers JOIN api_tokens ON ${FAMILY} = makers.family
    )
    SELECT 1 FROM makers WHERE family = $2`,
};
/** Of the tokens that GATEWAY_BOOTSTRAP_TOKEN brought all but the newest one. */
export const REVOKE_REPLACED: Statement = {
  name: 'tokens.revoke_replaced',
  text: `
    WITH ended AS (
      UPDATE api_tokens SET revoked_at = now()
      WHERE revoked_at IS NULL AND bootstrap_at < (SELECT max(bootstrap_at) FROM api_tokens)
      RETURNING ${COLUMNS}
    ), audited AS (${AUDITED('token.revoked', 'ended', '$1')})
    SELECT ${COLUMNS_MADE} FROM ended`,
};
export const BOOTSTRAP_IN_FORCE: Statement = {
  name: 'tokens.bootstrap_in_force',
  text: `
    SELECT ${COLUMNS} FROM api_tokens WHERE bootstrap_at IS NOT NULL AND revoked_at IS NULL
    ORDER BY bootstrap_at DESC LIMIT 1`,
};
export const ENDED_FAMILIES: Statement = {
  name: 'tokens.ended_families',
  text: `
    SELECT ${FAMILY} AS family FROM api_tokens WHERE ${FAMILY} = ANY ($1)
    GROUP BY 1 HAVING bool_and(revoked_at IS NOT NULL)
    UNION ALL SELECT owner FROM identity_denials WHERE owner = ANY ($1)`,
};
export const END_WITHIN: Statement = {
  name: 'tokens.end_within',
  text: `
    WITH limited AS (
      UPDATE api_tokens SET expires_at = least(expires_at, now() + make_interval(secs => $2))
      WHERE id = $1 AND revoked_at IS NULL RETURNING ${COLUMNS}
    ), audited AS (${AUDITED('token.limited', 'limited', '$3')})
    SELECT ${COLUMNS_MADE} FROM limited`,
};
export const EXPIRY: Statement = {
  name: 'tokens.expiry',
  text: `SELECT expires_at FROM api_tokens WHERE id = $1 AND revoked_at IS NULL`,
};
export const HAS_ANY: Statement = {
  name: 'tokens.has_any',
  text: `SELECT EXISTS (SELECT 1 FROM api_tokens) AS any`,
};
/** One at a time changes tokens: whoever revokes one also locks what it made, in no order. */
export const HOLD_CHANGES: Statement = {
  name: 'tokens.hold_changes',
  text: `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.changingTokens})`,
};
export const HOLD_CREATION: Statement = {
  name: 'tokens.hold_creation',
  text: `LOCK TABLE api_tokens IN SHARE ROW EXCLUSIVE MODE`,
};
export const REVISIONS: Statement = {
  name: 'tokens.revisions',
  comesFirst: true,
  timeoutMs: TIMEOUT_MS,
  text: `
    SELECT max(value) FILTER (WHERE name = 'api_tokens')::text AS tokens,
      max(value) FILTER (WHERE name = 'identity_denials')::text AS denials
    FROM change_counters WHERE name IN ('api_tokens', 'identity_denials')`,
};
export const MARK_USED: Statement = {
  name: 'tokens.mark_used',
  text: `UPDATE api_tokens SET last_used_at = now() WHERE id = ANY ($1)`,
};
