import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { columnsOf } from '../../../platform/database/entity-columns.js';
import { double, text } from '../../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../../platform/database/statement.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { TakenLimit } from '../../../platform/tokens/taken-limit.js';
import { isChannel, ownLimitsOf, shareOf, TOKEN_OF_FAMILY } from '../../../platform/tokens/token-shares.js';
import { TokenSpendingEntity } from './token-limits.entities.js';

/** How many tokens are shown at most, those with the highest use first. */
const MOST_READ = 1000;

const TAKEN = { token_id: text, token_name: text, taken: double };
const SPENT = statement({
  name: 'limits.spent_today',
  params: {},
  row: { ...TAKEN, ...columnsOf(TokenSpendingEntity, 'tokenId') },
  sql: ofTokens(`
    SELECT token_id, sum(input_tokens + output_tokens)::float8 AS taken FROM token_spending
    WHERE day = (now() AT TIME ZONE 'UTC')::date GROUP BY token_id`),
});
type TakenRow = RowOfStatement<typeof SPENT>;
/** Turns that run, and turns whose message waits: few compared with all turns, and found by their own indexes. */
const RUNNING = statement({
  name: 'limits.running',
  replanned: true,
  params: {},
  row: TAKEN,
  sql: ofTokens(`
    SELECT token_id, count(*)::float8 AS taken FROM turns
    WHERE status = 'running' AND token_id IS NOT NULL GROUP BY token_id`),
});
const WAITING = statement({
  name: 'limits.waiting',
  replanned: true,
  params: {},
  row: TAKEN,
  sql: ofTokens(`
    SELECT token_id, count(*)::float8 AS taken FROM turns
    WHERE status = 'waiting' AND wait_until > now() AND token_id IS NOT NULL GROUP BY token_id`),
});
const STORED = statement({
  name: 'limits.stored',
  params: {},
  row: TAKEN,
  sql: `
    SELECT coalesce(t.id, family) AS token_id, coalesce(t.name, family) AS token_name, taken FROM (
      SELECT token_family AS family, sum(bytes)::float8 AS taken FROM token_storage
      GROUP BY token_family ORDER BY taken DESC LIMIT ${MOST_READ}
    ) AS stored ${TOKEN_OF_FAMILY}`,
});

/** How much of their limits API tokens use with turns, messages and attachments, over all replicas; for operators. */
@Injectable()
export class TokenLimits {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  async all(): Promise<TakenLimit[]> {
    const [spent, running, waiting, stored] = await Promise.all(
      [SPENT, RUNNING, WAITING, STORED].map((one) => this.database.query(one)),
    );
    const { limits } = this.settings.current;
    const own = (row: TakenRow) => ownLimitsOf(limits, holderOf(row));
    const forAll = (row: TakenRow, limit: number): number => (isChannel(holderOf(row)) ? 0 : limit);
    return [
      ...takenOf(spent, 'model tokens of today', RAISE_TOKENS, (row) => {
        return own(row)?.daily_tokens ?? forAll(row, limits.daily_tokens_per_api_token);
      }),
      ...takenOf(running, 'turns at once', RAISE_TURNS, (row) => {
        return own(row)?.turns ?? forAll(row, limits.turns_per_api_token);
      }),
      ...takenOf(waiting, 'waiting messages', SEND_LESS, (row) =>
        shareOf(limits, holderOf(row), 'waiting_messages'),
      ),
      ...takenOf(stored, 'bytes of attachments', END_SESSIONS, (row) =>
        shareOf(limits, holderOf(row), 'stored_bytes'),
      ),
    ];
  }
}

const RAISE_TOKENS = 'Raise limits.daily_tokens_per_api_token, or wait for the next day in UTC.';
const RAISE_TURNS = 'Raise limits.turns_per_api_token, or send less at once.';
const SEND_LESS =
  'Add replicas or raise limits.turns_per_replica, so that messages wait for less time; else raise limits.waiting_messages_per_api_token.';
const END_SESSIONS =
  'Raise limits.stored_bytes_per_api_token, or erase sessions: attachments go with their sessions.';

/** @param taken a query of `token_id` and `taken` */
function ofTokens(taken: string): string {
  return `
    SELECT used.token_id, coalesce(t.name, used.token_id) AS token_name, used.taken FROM (
      ${taken} ORDER BY taken DESC LIMIT ${MOST_READ}
    ) AS used LEFT JOIN api_tokens AS t ON t.id = used.token_id`;
}

function holderOf({ token_id: tokenId, token_name: tokenName }: TakenRow) {
  return { tokenId, tokenName };
}

function takenOf(
  rows: readonly TakenRow[] | undefined,
  what: string,
  advice: string,
  limitOf: (row: TakenRow) => number,
): TakenLimit[] {
  return (rows ?? []).map((row) => ({
    ...{ holder: row.token_name, what, taken: row.taken, advice },
    limit: limitOf(row),
  }));
}
