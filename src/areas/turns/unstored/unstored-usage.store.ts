import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { Statement } from '../../../platform/database/sql.js';
import { apiTokenOf, budgetsJson, recordUsage } from '../../usage/usage.api.js';
import { spend, TOKEN_USAGE } from '../limits/spending.sql.js';
import type { LimitUsage, TurnAllowance } from '../limits/turn-allowance.js';
import type { TurnBill } from '../turn-endings.store.js';

/** Of whom a turn without a session is counted. */
export interface UnstoredParties {
  readonly agent: string;
  readonly userId: string;
  readonly channel: string;
}

/** `$1` agent, `$2` user, `$3` channel, `$4` what was used of each model, `$5` the API token's name, `$6` its id. */
const RECORD: Statement = {
  name: 'turns.record_unstored',
  text: `
    WITH held AS (
      SELECT $1::text AS agent, $2::text AS user_id, $3::text AS channel
    ), ${recordUsage('$4::json', '$5::text')}, closed AS (SELECT $6::text AS token_id
    ), spent AS (${spend('(SELECT input_tokens FROM total)', '(SELECT output_tokens FROM total)')}
    )
    SELECT input_tokens::float8 FROM total`,
};

/** What is written of turns that are not stored: what they used. And what is asked before they begin. */
@Injectable()
export class UnstoredUsageStore {
  constructor(private readonly database: Database) {}

  /** @param turns how many it counts as: a call that asks nothing for anybody is none */
  async record(
    { agent, userId, channel }: UnstoredParties,
    { spending, caller }: TurnBill,
    turns: 0 | 1 = 1,
  ): Promise<void> {
    const rows = JSON.stringify(spending.rows(turns));
    await this.database.query(RECORD, [agent, userId, channel, rows, apiTokenOf(caller), caller.tokenId]);
  }

  /** How the API token and its budgets stand. */
  async standing({ tokenId, budgets }: TurnAllowance): Promise<LimitUsage | undefined> {
    const [row] = await this.database.query<LimitUsage>(TOKEN_USAGE, [tokenId, budgetsJson(budgets)]);
    return row;
  }
}
