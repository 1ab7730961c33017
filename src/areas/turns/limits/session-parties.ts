import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { text } from '../../../platform/database/sql-types.js';
import { type RowOfStatement, statement } from '../../../platform/database/statement.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { type Budget, budgetsOf, needSession } from '../../usage/usage.api.js';

/** How many sessions' user and agent are cached: they never change. */
const MAX_REMEMBERED = 20_000;

const PARTIES = statement({
  name: 'turns.session_parties',
  params: { session: text },
  row: { userId: text, agent: text },
  sql: `SELECT user_id AS "userId", agent FROM sessions WHERE id = :session`,
});
type Parties = RowOfStatement<typeof PARTIES>;
const UNKNOWN: Parties = { userId: '', agent: '' };

/** Finds whose budgets a message to a session counts towards, before the session is taken. */
@Injectable()
export class SessionParties {
  private readonly remembered = new Map<string, Parties>();

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Asks the database only when users or agents have budgets, once for each session. */
  budgetsOf(sessionId: string, caller: Caller): readonly Budget[] | Promise<readonly Budget[]> {
    const { limits } = this.settings.current;
    if (!needSession(limits)) return budgetsOf(limits, { ...UNKNOWN, caller });
    return this.of(sessionId).then((parties) => budgetsOf(limits, { ...parties, caller }));
  }

  private async of(sessionId: string): Promise<Parties> {
    const known = this.remembered.get(sessionId);
    if (known !== undefined) return known;
    const [found] = await this.database.query(PARTIES, { session: sessionId });
    if (found === undefined) return UNKNOWN;
    const [oldest] = this.remembered.size >= MAX_REMEMBERED ? this.remembered.keys() : [];
    if (oldest !== undefined) this.remembered.delete(oldest);
    this.remembered.set(sessionId, found);
    return found;
  }
}
