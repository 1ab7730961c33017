import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { double, text } from '../../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../../platform/database/statement.js';
import { Settings } from '../../../platform/settings/settings.js';
import { isChannel, ownLimitsOf, shareOf } from '../../../platform/tokens/token-shares.js';

/** A limit of an API token, and how much of it is taken. */
export interface ReachedLimit {
  readonly tokenName: string;
  readonly what: 'model tokens of today' | 'bytes of attachments';
  readonly taken: number;
  readonly limit: number;
}

/** The most tokens that are looked at, those that take most first. */
const MOST_READ = 1000;
/** Attachments come in megabytes: with less room than this the next one may be refused. */
const ALMOST_ALL = 0.95;

const TAKEN = { token_id: text, token_name: text, taken: double };
const SPENT = statement({
  name: 'limits.spent_today',
  params: {},
  row: TAKEN,
  sql: `
    SELECT spent.token_id, coalesce(t.name, spent.token_id) AS token_name, spent.taken FROM (
      SELECT token_id, sum(input_tokens + output_tokens)::float8 AS taken FROM token_spending
      WHERE day = (now() AT TIME ZONE 'UTC')::date GROUP BY token_id ORDER BY taken DESC LIMIT ${MOST_READ}
    ) AS spent LEFT JOIN api_tokens AS t ON t.id = spent.token_id ORDER BY spent.taken DESC`,
});
type TakenRow = RowOfStatement<typeof SPENT>;
const STORED = statement({
  name: 'limits.stored',
  params: {},
  row: TAKEN,
  sql: `
    SELECT stored.token_family AS token_id, coalesce(t.name, stored.token_family) AS token_name, stored.taken FROM (
      SELECT token_family, sum(bytes)::float8 AS taken FROM token_storage
      GROUP BY token_family ORDER BY taken DESC LIMIT ${MOST_READ}
    ) AS stored LEFT JOIN api_tokens AS t ON t.id = stored.token_family ORDER BY stored.taken DESC`,
});

/** Which API tokens are refused turns or attachments at the moment, for operators. */
@Injectable()
export class ReachedLimits {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  async all(most: number): Promise<ReachedLimit[]> {
    const [spent, stored] = await Promise.all([this.database.query(SPENT), this.database.query(STORED)]);
    const { limits } = this.settings.current;
    const dailyTokens = (row: TakenRow): number => {
      const holder = holderOf(row);
      return (
        ownLimitsOf(limits, holder)?.daily_tokens ??
        (isChannel(holder) ? 0 : limits.daily_tokens_per_api_token)
      );
    };
    const bytes = (row: TakenRow): number => shareOf(limits, holderOf(row), 'stored_bytes');
    return [
      ...spent.map((row) => limitOf(row, 'model tokens of today', dailyTokens(row))),
      ...stored.map((row) => limitOf(row, 'bytes of attachments', bytes(row))),
    ]
      .filter(isReached)
      .slice(0, most);
  }
}

function holderOf({ token_id: tokenId, token_name: tokenName }: TakenRow) {
  return { tokenId, tokenName };
}

function limitOf({ token_name: tokenName, taken }: TakenRow, what: ReachedLimit['what'], limit: number) {
  return { tokenName, what, taken, limit };
}

function isReached({ what, taken, limit }: ReachedLimit): boolean {
  return limit > 0 && taken >= (what === 'bytes of attachments' ? limit * ALMOST_ALL : limit);
}
