import { Injectable } from '@nestjs/common';
import type { SqlRunner } from '../../platform/database/sql.js';
import { arrayOf, integer, nullable, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import type { TokenEnding } from '../../platform/tokens/token-endings.js';

const DEACTIVATE = statement({
  name: 'hooks.end_of_token',
  params: { owners: arrayOf(text) },
  row: { id: nullable(text) },
  sql: `
    WITH made AS (
      SELECT id, active AND message_id IS NULL AS active FROM hooks WHERE token_family = ANY (:owners) OR made_with = ANY (:owners) ORDER BY id FOR UPDATE
    )
    UPDATE hooks AS h SET active = false, inactive_reason = 'token_revoked' FROM made
    WHERE h.id = made.id AND h.inactive_reason IS DISTINCT FROM 'token_revoked'
    RETURNING CASE WHEN made.active THEN h.id END AS id`,
});
/** A separate statement that sees them inactive, so that no hook is sent its own end. */
const ANNOUNCE = statement({
  name: 'hooks.announce_end_of_token',
  params: { ids: arrayOf(text) },
  row: { deliveries: nullable(integer) },
  sql: `
    SELECT sum(${emitSql('error.occurred', 'user_id', {
      source: `'hook'`,
      reason: `'hook_token_revoked'`,
      hook_id: 'id',
    })})::int AS deliveries FROM hooks WHERE id = ANY (:ids)`,
});

/** Webhooks end with the token that made them: nothing more is sent, and they cannot be reactivated. */
@Injectable()
export class TokenHooks implements TokenEnding {
  async end(runner: SqlRunner, owners: readonly string[]): Promise<void> {
    const rows = await runner.query(DEACTIVATE, { owners });
    const ids = rows.map(({ id }) => id).filter((id) => id !== null);
    if (ids.length > 0) await runner.query(ANNOUNCE, { ids });
  }
}
