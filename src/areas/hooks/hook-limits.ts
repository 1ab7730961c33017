import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { boolean, double, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { Settings } from '../../platform/settings/settings.js';
import type { TakenLimit } from '../../platform/tokens/taken-limit.js';
import { shareOf, TOKEN_OF_FAMILY } from '../../platform/tokens/token-shares.js';

/** For all tokens together; each token has its own limit (`limits.hooks_per_api_token`). */
export const MAX_HOOKS = 1000;
/** For all tokens together; each token has its own limit (`limits.task_hooks_per_api_token`). */
export const MAX_TASK_HOOKS = 5000;

/** There are 6000 hooks at most. */
const TAKEN = statement({
  name: 'hooks.taken',
  params: {},
  row: { of_tasks: boolean, token_id: text, token_name: text, taken: double },
  sql: `
    SELECT of_tasks, coalesce(t.id, family) AS token_id, coalesce(t.name, family) AS token_name, taken FROM (
      SELECT message_id IS NOT NULL AS of_tasks, coalesce(token_family, '') AS family, count(*)::float8 AS taken FROM hooks
      WHERE message_id IS NOT NULL OR inactive_reason IS DISTINCT FROM 'token_revoked' GROUP BY 1, 2
    ) AS used ${TOKEN_OF_FAMILY}`,
});

const KINDS = {
  hooks: {
    ...{ ofTasks: false, what: 'webhooks', most: MAX_HOOKS },
    advice:
      'Delete webhooks that nobody needs ("agent-gateway hooks list"), or raise limits.hooks_per_api_token.',
  },
  task_hooks: {
    ...{ ofTasks: true, what: 'push notifications of tasks', most: MAX_TASK_HOOKS },
    advice:
      'They go when their tasks are over: look for tasks that never end, or raise limits.task_hooks_per_api_token.',
  },
} as const;

/** How many webhooks and push notifications there are, together and of each API token, for operators. */
@Injectable()
export class HookLimits {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  async all(): Promise<TakenLimit[]> {
    const rows = await this.database.query(TAKEN);
    const { limits } = this.settings.current;
    return (['hooks', 'task_hooks'] as const).flatMap((thing) => {
      const { ofTasks, what, most, advice } = KINDS[thing];
      const used = rows.filter(({ of_tasks: isOfTasks }) => isOfTasks === ofTasks);
      const together = used.reduce((sum, { taken }) => sum + taken, 0);
      // One from before tokens were noted counts to all only.
      const ofTokens = used
        .filter(({ token_id: id }) => id !== '')
        .map(({ token_id: tokenId, token_name: tokenName, taken }) => ({
          ...{ holder: tokenName, what, taken, advice },
          limit: shareOf(limits, { tokenId, tokenName }, thing),
        }));
      return [{ holder: null, what, taken: together, limit: most, advice }, ...ofTokens];
    });
  }
}
