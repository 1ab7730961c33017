import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { double, json, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { apiTokenOf, budgetsJson, recordUsage } from '../../usage/usage.api.js';
import { spend, TOKEN_USAGE } from '../limits/spending.sql.js';
import type { LimitUsage, TurnAllowance } from '../limits/turn-allowance.js';
import type { TurnBill } from '../turn-endings.store.js';

/** Whom the usage of a turn without a session counts towards. */
export interface UnstoredParties {
  readonly agent: string;
  readonly userId: string;
  readonly channel: string;
}

const RECORD = statement({
  name: 'turns.record_unstored',
  params: {
    ...{ agent: text, user: text, channel: text },
    /** What was used of each model: `TurnSpending.rows()`. */
    usage: json<unknown[]>(),
    /** Its name and its id. */
    ...{ apiToken: text, token: text },
  },
  row: { input_tokens: double },
  sql: `
    WITH held AS (
      SELECT :agent::text AS agent, :user::text AS user_id, :channel::text AS channel
    ), ${recordUsage(':usage::json', ':apiToken::text')}, closed AS (SELECT :token::text AS token_id
    ), spent AS (${spend('(SELECT input_tokens FROM total)', '(SELECT output_tokens FROM total)')}
    )
    SELECT input_tokens::float8 FROM total`,
});

/** The statements about turns that are not stored: their usage, and the limits that are checked before they begin. */
@Injectable()
export class UnstoredUsageStore {
  constructor(private readonly database: Database) {}

  /** @param turns how many it counts as: 0 for a call that is no turn, such as a probe */
  async record(
    { agent, userId, channel }: UnstoredParties,
    { spending, caller }: TurnBill,
    turns: 0 | 1 = 1,
  ): Promise<void> {
    await this.database.query(RECORD, {
      ...{ agent, user: userId, channel, usage: JSON.stringify(spending.rows(turns)) },
      ...{ apiToken: apiTokenOf(caller), token: caller.tokenId },
    });
  }

  /** What the API token and its budgets have used. */
  async standing({ tokenId, budgets }: TurnAllowance): Promise<LimitUsage | undefined> {
    const [row] = await this.database.query(TOKEN_USAGE, { token: tokenId, budgets: budgetsJson(budgets) });
    return row;
  }
}
