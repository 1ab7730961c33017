import { auditedSql } from '../audit-log/audited.sql.js';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import { columnsOf } from '../database/entity-columns.js';
import {
  arrayOf,
  bigint,
  boolean,
  bytes,
  double,
  integer,
  json,
  jsonb,
  nullable,
  text,
  timestamp,
} from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import { ApiTokenEntity } from './api-token.entity.js';

/**
 * The family of a token: the tokens that replaced one another. A token that replaced none is the first of its own
 * family.
 */
const FAMILY = 'coalesce(family_id, id)';
const COLUMNS = `id, name, scopes, user_id, agents, ${FAMILY} AS family_id, maker_family, maker_credential, bootstrap_at, created_at, expires_at, last_used_at, revoked_at`;

const TOKEN = {
  ...columnsOf(ApiTokenEntity, 'id', 'name', 'scopes', 'userId', 'agents', 'makerFamily', 'makerCredential'),
  ...columnsOf(ApiTokenEntity, 'bootstrapAt', 'createdAt', 'expiresAt', 'lastUsedAt', 'revokedAt'),
  family_id: text,
};

/** The same columns, read from such a result. */
const COLUMNS_MADE = COLUMNS.replace(`${FAMILY} AS family_id`, 'family_id');

/** The audit entry of a change, as part of its statement. */
const AUDITED = (action: string, from: string): string =>
  auditedSql({
    ...{ action, from, origin: ':origin', subject: 'name' },
    details: `jsonb_build_object('token_id', id, 'scopes', scopes, 'user_id', user_id, 'agents', agents, 'expires_at', expires_at)`,
  });

/** What a token is inserted with. */
const NEW_TOKEN = {
  ...{ id: text, name: text, sha256: bytes, scopes: arrayOf(text), user: nullable(text) },
  ...{
    expires: nullable(timestamp),
    family: nullable(text),
    bootstrapped: nullable(timestamp),
    agents: nullable(json()),
  },
  ...{ makerFamily: nullable(text), makerCredential: nullable(text), origin: jsonb() },
};
/** `onConflict` says what happens to a token with the same hash. Returns the rows that are new or changed. */
const insert = (bootstrapAt: string, onConflict: string): string => `
  WITH made AS (
    INSERT INTO api_tokens (id, name, sha256, scopes, user_id, expires_at, family_id, bootstrap_at, agents,
      maker_family, maker_credential)
    VALUES (:id, :name, :sha256, :scopes, :user, :expires, :family, ${bootstrapAt}, :agents, :makerFamily, :makerCredential)
    ON CONFLICT (sha256) ${onConflict} RETURNING ${COLUMNS}
  ), audited AS (${AUDITED('token.created', 'made')})
  SELECT ${COLUMNS_MADE} FROM made`;
export const INSERT = statement({
  name: 'tokens.insert_of_maker',
  params: NEW_TOKEN,
  row: TOKEN,
  sql: insert(':bootstrapped', 'DO NOTHING'),
});
/** Later than all earlier ones, so that there is one newest token. */
const NOW_THE_NEWEST = `
  greatest(clock_timestamp(), (SELECT max(bootstrap_at) + interval '1 millisecond' FROM api_tokens), :bootstrapped::timestamptz)`;
export const INSTALL = statement({
  name: 'tokens.install_of_maker',
  params: NEW_TOKEN,
  row: TOKEN,
  sql: insert(
    NOW_THE_NEWEST,
    `DO UPDATE SET bootstrap_at = excluded.bootstrap_at
     WHERE api_tokens.bootstrap_at IS NULL AND api_tokens.revoked_at IS NULL`,
  ),
});
/** Every request waits for these two. A statement that hangs must soon become a 503 and release its connection. */
const TIMEOUT_MS = 5000;

export const FIND_BY_HASH = statement({
  name: 'tokens.find_by_hash',
  comesFirst: true,
  timeoutMs: TIMEOUT_MS,
  params: { sha256: bytes },
  row: TOKEN,
  sql: `SELECT ${COLUMNS} FROM api_tokens WHERE sha256 = :sha256 AND revoked_at IS NULL`,
});
export const LIST = statement({
  name: 'tokens.list',
  params: {},
  row: TOKEN,
  sql: `SELECT ${COLUMNS} FROM api_tokens ORDER BY created_at DESC, id DESC`,
});
/** Newest first, after a given time and id. */
export const PAGE = statement({
  name: 'tokens.page',
  params: { at: timestamp, id: text, most: bigint },
  row: TOKEN,
  sql: `
    SELECT ${COLUMNS} FROM api_tokens WHERE (created_at, id) < (:at::timestamptz, :id)
    ORDER BY created_at DESC, id DESC LIMIT :most`,
});
export const FIND_NAMED = statement({
  name: 'tokens.find_named',
  params: { wanted: text },
  row: TOKEN,
  sql: `SELECT ${COLUMNS} FROM api_tokens
         WHERE (id = :wanted OR name = :wanted) AND revoked_at IS NULL ORDER BY created_at DESC`,
});
/** Also finds revoked tokens, because what tools keep for a name outlives them. */
export const NAME_IS_KNOWN = statement({
  name: 'tokens.name_is_known',
  params: { name: text },
  row: { any: boolean },
  sql: `SELECT EXISTS (SELECT 1 FROM api_tokens WHERE name = :name) AS any`,
});
/** Revoking a token also revokes the tokens that it replaced and that were kept for a while. */
export const REVOKE = statement({
  name: 'tokens.revoke',
  params: { id: text, origin: jsonb() },
  row: TOKEN,
  sql: `
    WITH asked AS (
      SELECT ${FAMILY} AS family, created_at FROM api_tokens WHERE id = :id AND revoked_at IS NULL
    ), ended AS (
      UPDATE api_tokens SET revoked_at = now() FROM asked
      WHERE ${FAMILY} = asked.family AND api_tokens.created_at <= asked.created_at AND revoked_at IS NULL
      RETURNING ${COLUMNS.replace('created_at', 'api_tokens.created_at')}
    ), audited AS (${AUDITED('token.revoked', 'ended')})
    SELECT ${COLUMNS_MADE} FROM ended`,
});
/** What these families, identities and single JWTs made, and what replaced it. */
export const REVOKE_MADE = statement({
  name: 'tokens.revoke_made',
  params: { makers: arrayOf(text), origin: jsonb() },
  row: { family: text },
  sql: `
    WITH asked AS (
      SELECT ${FAMILY} AS family, max(created_at) AS created_at FROM api_tokens
      WHERE (maker_family = ANY (:makers) OR maker_credential = ANY (:makers)) AND revoked_at IS NULL GROUP BY 1
    ), ended AS (
      UPDATE api_tokens SET revoked_at = now() FROM asked
      WHERE ${FAMILY} = asked.family AND api_tokens.created_at <= asked.created_at AND revoked_at IS NULL
      RETURNING ${COLUMNS.replace('created_at', 'api_tokens.created_at')}
    ), audited AS (${AUDITED('token.revoked', 'ended')})
    SELECT DISTINCT family_id AS family FROM ended`,
});
/** Whether `maker` made the family, or made something that made it. */
export const IS_MADE_BY = statement({
  name: 'tokens.is_made_by',
  params: { family: text, maker: text },
  row: { found: integer },
  sql: `
    WITH RECURSIVE makers AS (
      SELECT maker_family AS family FROM api_tokens WHERE ${FAMILY} = :family
      UNION
      SELECT maker_family FROM makers JOIN api_tokens ON ${FAMILY} = makers.family
    )
    SELECT 1 AS found FROM makers WHERE family = :maker`,
});
/** Of the tokens that GATEWAY_BOOTSTRAP_TOKEN set, all except the newest. */
export const REVOKE_REPLACED = statement({
  name: 'tokens.revoke_replaced',
  params: { origin: jsonb() },
  row: TOKEN,
  sql: `
    WITH ended AS (
      UPDATE api_tokens SET revoked_at = now()
      WHERE revoked_at IS NULL AND bootstrap_at < (SELECT max(bootstrap_at) FROM api_tokens)
      RETURNING ${COLUMNS}
    ), audited AS (${AUDITED('token.revoked', 'ended')})
    SELECT ${COLUMNS_MADE} FROM ended`,
});
export const BOOTSTRAP_IN_FORCE = statement({
  name: 'tokens.bootstrap_in_force',
  params: {},
  row: TOKEN,
  sql: `
    SELECT ${COLUMNS} FROM api_tokens WHERE bootstrap_at IS NOT NULL AND revoked_at IS NULL
    ORDER BY bootstrap_at DESC LIMIT 1`,
});
export const ENDED_FAMILIES = statement({
  name: 'tokens.ended_families',
  params: { families: arrayOf(text) },
  row: { family: text },
  sql: `
    SELECT ${FAMILY} AS family FROM api_tokens WHERE ${FAMILY} = ANY (:families)
    GROUP BY 1 HAVING bool_and(revoked_at IS NOT NULL)
    UNION ALL SELECT owner FROM identity_denials WHERE owner = ANY (:families)`,
});
export const END_WITHIN = statement({
  name: 'tokens.end_within',
  params: { id: text, secs: double, origin: jsonb() },
  row: TOKEN,
  sql: `
    WITH limited AS (
      UPDATE api_tokens SET expires_at = least(expires_at, now() + make_interval(secs => :secs))
      WHERE id = :id AND revoked_at IS NULL RETURNING ${COLUMNS}
    ), audited AS (${AUDITED('token.limited', 'limited')})
    SELECT ${COLUMNS_MADE} FROM limited`,
});
export const EXPIRY = statement({
  name: 'tokens.expiry',
  params: { id: text },
  row: columnsOf(ApiTokenEntity, 'expiresAt'),
  sql: `SELECT expires_at FROM api_tokens WHERE id = :id AND revoked_at IS NULL`,
});
export const HAS_ANY = statement({
  name: 'tokens.has_any',
  params: {},
  row: { any: boolean },
  sql: `SELECT EXISTS (SELECT 1 FROM api_tokens) AS any`,
});
/** Only one transaction at a time changes tokens: revoking one also locks what it made, in no fixed order. */
export const HOLD_CHANGES = statement({
  name: 'tokens.hold_changes',
  params: {},
  row: {},
  sql: `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.changingTokens})`,
});
export const HOLD_CREATION = statement({
  name: 'tokens.hold_creation',
  params: {},
  row: {},
  sql: `LOCK TABLE api_tokens IN SHARE ROW EXCLUSIVE MODE`,
});
export const REVISIONS = statement({
  name: 'tokens.revisions',
  comesFirst: true,
  timeoutMs: TIMEOUT_MS,
  params: {},
  row: { tokens: nullable(text), denials: nullable(text) },
  sql: `
    SELECT max(value) FILTER (WHERE name = 'api_tokens')::text AS tokens,
      max(value) FILTER (WHERE name = 'identity_denials')::text AS denials
    FROM change_counters WHERE name IN ('api_tokens', 'identity_denials')`,
});
export const MARK_USED = statement({
  name: 'tokens.mark_used',
  params: { ids: arrayOf(text) },
  row: {},
  sql: `UPDATE api_tokens SET last_used_at = now() WHERE id = ANY (:ids)`,
});
