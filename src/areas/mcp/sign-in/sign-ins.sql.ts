import { columnsOf } from '../../../platform/database/entity-columns.js';
import { boolean, double, integer, nullable, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { dueQuestion } from '../../../platform/runtime/due-question.js';
import { McpSignInEntity } from './sign-in.entity.js';

/** How long an operator has to open the link and to sign in. */
export const FLOW_SECS = 600;
/** A refresh that takes longer counts as lost with its replica. */
const LEASE_SECS = 30;

export const FIND = statement({
  name: 'mcp_sign_ins.find',
  params: { server: text },
  row: columnsOf(
    McpSignInEntity,
    ...(['boundTo', 'sealedClient', 'sealedTokens', 'tokensVersion', 'expiresAt'] as const),
    ...(['problem', 'wantedScope'] as const),
  ),
  sql: `SELECT bound_to, sealed_client, sealed_tokens, tokens_version, expires_at, problem, wanted_scope
    FROM mcp_sign_ins WHERE server = :server`,
});

/** A flow takes the place of an earlier one; tokens stay until it has others. */
export const BEGIN = statement({
  name: 'mcp_sign_ins.begin',
  params: { server: text, boundTo: text, client: text, stateHash: text, flow: text },
  row: {},
  sql: `
    INSERT INTO mcp_sign_ins (server, bound_to, sealed_client, state_hash, sealed_flow, flow_ends_at)
    VALUES (:server, :boundTo, :client, :stateHash, :flow, now() + interval '${FLOW_SECS} seconds')
    ON CONFLICT (server) DO UPDATE SET sealed_client = excluded.sealed_client, state_hash = excluded.state_hash,
      sealed_flow = excluded.sealed_flow, flow_ends_at = excluded.flow_ends_at`,
});

/** Each flow is taken once. */
export const TAKE = statement({
  name: 'mcp_sign_ins.take',
  params: { stateHash: text },
  row: { server: text, flow: text, changes: integer },
  sql: `
    WITH taken AS (
      SELECT server, sealed_flow AS flow, changes FROM mcp_sign_ins
      WHERE state_hash = :stateHash AND flow_ends_at > now() FOR UPDATE
    )
    UPDATE mcp_sign_ins AS one SET state_hash = NULL, sealed_flow = NULL, flow_ends_at = NULL
    FROM taken WHERE one.server = taken.server RETURNING taken.server, taken.flow, taken.changes`,
});

export const FINISH = statement({
  name: 'mcp_sign_ins.finish',
  params: {
    ...{ server: text, boundTo: text, tokens: text, lives: nullable(double), by: text, changes: integer },
  },
  row: { changes: integer },
  sql: `
    UPDATE mcp_sign_ins SET bound_to = :boundTo, changes = changes + 1, sealed_tokens = :tokens,
      tokens_version = tokens_version + 1, expires_at = now() + make_interval(secs => :lives), refreshing_until = NULL,
      problem = NULL, wanted_scope = NULL, signed_in_by = :by, signed_in_at = now()
    WHERE server = :server AND changes = :changes RETURNING changes`,
});

/** The registration goes too: an authorization server may have forgotten it. */
export const END = statement({
  name: 'mcp_sign_ins.end',
  params: { server: text },
  row: { tokens: nullable(text) },
  sql: `
    WITH before AS (SELECT server, sealed_tokens AS tokens FROM mcp_sign_ins WHERE server = :server FOR UPDATE)
    UPDATE mcp_sign_ins AS one SET changes = changes + 1, sealed_client = NULL, state_hash = NULL, sealed_flow = NULL,
      flow_ends_at = NULL, sealed_tokens = NULL, tokens_version = tokens_version + 1, expires_at = NULL,
      refreshing_until = NULL, problem = NULL, wanted_scope = NULL, signed_in_by = NULL, signed_in_at = NULL
    FROM before WHERE one.server = before.server RETURNING before.tokens`,
});

export const LEASE = statement({
  name: 'mcp_sign_ins.lease',
  params: { server: text, version: integer },
  row: { version: integer },
  sql: `
    UPDATE mcp_sign_ins SET refreshing_until = now() + interval '${LEASE_SECS} seconds'
    WHERE server = :server AND tokens_version = :version AND sealed_tokens IS NOT NULL
      AND (refreshing_until IS NULL OR refreshing_until < now())
    RETURNING tokens_version AS version`,
});

export const RELEASE = statement({
  name: 'mcp_sign_ins.release',
  params: { server: text, version: integer },
  row: {},
  sql: 'UPDATE mcp_sign_ins SET refreshing_until = NULL WHERE server = :server AND tokens_version = :version',
});

export const RENEW = statement({
  name: 'mcp_sign_ins.renew',
  params: { server: text, version: integer, tokens: text, lives: nullable(double) },
  row: { version: integer },
  sql: `
    UPDATE mcp_sign_ins SET sealed_tokens = :tokens, tokens_version = tokens_version + 1, refreshing_until = NULL,
      expires_at = now() + make_interval(secs => :lives)
    WHERE server = :server AND tokens_version = :version AND sealed_tokens IS NOT NULL
    RETURNING tokens_version AS version`,
});

export const LOSE = statement({
  name: 'mcp_sign_ins.lose',
  params: { server: text, version: integer, problem: text, forgetsClient: boolean },
  row: { version: integer },
  sql: `
    UPDATE mcp_sign_ins SET sealed_client = CASE WHEN NOT :forgetsClient::boolean THEN sealed_client END, sealed_tokens = NULL, tokens_version = tokens_version + 1, expires_at = NULL,
      refreshing_until = NULL, problem = :problem
    WHERE server = :server AND tokens_version = :version AND sealed_tokens IS NOT NULL
    RETURNING tokens_version AS version`,
});

export const WANT = statement({
  name: 'mcp_sign_ins.want',
  params: { server: text, boundTo: text, scope: text },
  row: {},
  sql: `
    UPDATE mcp_sign_ins SET wanted_scope = :scope
    WHERE server = :server AND bound_to = :boundTo AND wanted_scope IS DISTINCT FROM :scope`,
});

export const ALL = statement({
  name: 'mcp_sign_ins.all',
  params: {},
  row: {
    is_signed_in: columnsOf(McpSignInEntity, 'sealedTokens').sealed_tokens,
    ...columnsOf(McpSignInEntity, 'server', 'boundTo', 'changes', 'problem', 'signedInBy', 'signedInAt'),
  },
  sql: `SELECT CASE WHEN sealed_tokens IS NOT NULL THEN 'yes' END AS is_signed_in, server, bound_to, changes, problem,
    signed_in_by, signed_in_at FROM mcp_sign_ins ORDER BY server LIMIT 10000`,
});

/** Differs after each sign-in and sign-out. */
export const SIGN_IN_CHANGES = dueQuestion({
  name: 'mcp_sign_in_changes',
  params: {},
  answer: double,
  sql: '(SELECT coalesce(sum(changes), 0)::float8 FROM mcp_sign_ins)',
});
