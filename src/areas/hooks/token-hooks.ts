import { Injectable } from '@nestjs/common';
import type { SqlRunner, Statement } from '../../platform/database/sql.js';
import { emitSql } from '../../platform/events/emit.sql.js';
import type { TokenEnding } from '../../platform/tokens/token-endings.js';

const DEACTIVATE: Statement = {
  name: 'hooks.end_of_token',
  text: `
    WITH made AS (
      SELECT id, active AND message_id IS NULL AS active FROM hooks WHERE token_family = ANY ($1) OR made_with = ANY ($1) ORDER BY id FOR UPDATE
    )
    UPDATE hooks AS h SET active = false, inactive_reason = 'token_revoked' FROM made
    WHERE h.id = made.id AND h.inactive_reason IS DISTINCT FROM 'token_revoked'
    RETURNING CASE WHEN made.active THEN h.id END AS id`,
};
/** A separate statement that sees them inactive, so that no hook is sent its own end. */
const ANNOUNCE: Statement = {
  name: 'hooks.announce_end_of_token',
  text: `
    SELECT sum(${emitSql('error.occurred', 'user_id', {
      source: `'hook'`,
      reason: `'hook_token_revoked'`,
      hook_id: 'id',
    })})::int AS deliveries FROM hooks WHERE id = ANY ($1)`,
};

/** Webhooks end with the token that made them: nothing more is sent, and they cannot be reactivated. */
@Injectable()
export class TokenHooks implements TokenEnding {
  async end(runner: SqlRunner, owners: readonly string[]): Promise<void> {
    const rows = await runner.query<{ id: string | null }>(DEACTIVATE, [[...owners]]);
    const ids = rows.map(({ id }) => id).filter((id) => id !== null);
    if (ids.length > 0) await runner.query(ANNOUNCE, [ids]);
  }
}
