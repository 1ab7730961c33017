import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';

const ACTIVE: Statement = {
  name: 'hooks.active',
  text: 'SELECT id FROM hooks WHERE id = ANY ($1) AND active',
};

/** Which hooks are still active; the others were deleted, given up, or ended with their token, on any replica. */
@Injectable()
export class ActiveHooks {
  constructor(private readonly database: Database) {}

  async among(hookIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ id: string }>(ACTIVE, [hookIds]);
    return new Set(rows.map(({ id }) => id));
  }
}
