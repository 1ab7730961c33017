import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { type AgentSettings, agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { ModelChains, ModelHealth } from '../models/models.api.js';

/** An agent as it is configured, and what it does at the moment. */
export interface AgentReport extends AgentSettings {
  readonly chain: readonly ModelReport[];
  /** Live ones. */
  readonly sessions: number;
  /** In US dollars, since midnight UTC. */
  readonly spentToday: number;
}

export interface ModelReport {
  readonly name: string;
  /** Why it is passed over at the moment; undefined when it is not. */
  readonly problem: string | undefined;
}

const ACTIVITY: Statement = {
  name: 'agents.activity',
  text: `
    WITH live AS (SELECT agent, count(*)::int AS n FROM sessions WHERE status <> 'terminated' GROUP BY agent)
    SELECT asked.name, coalesce(live.n, 0) AS sessions,
      budget_spent('agents', asked.name, (now() AT TIME ZONE 'UTC')::date)::float8 AS spent_today
    FROM unnest($1::text[]) AS asked (name) LEFT JOIN live ON live.agent = asked.name`,
};
const LIST = new KeysetList<AgentSettings>('agents', ['text'], ({ name }) => [name]);

/** The agents of this gateway, for operators. */
@Injectable()
export class AgentDirectory {
  constructor(
    private readonly settings: Settings,
    private readonly models: ModelChains,
    private readonly health: ModelHealth,
    private readonly database: Database,
  ) {}

  /** By name; those that the caller may use. */
  async list(query: PageQuery, caller: Pick<Caller, 'agents'>): Promise<Page<AgentReport>> {
    const { current } = this.settings;
    const after = query.cursor === undefined ? undefined : LIST.after(query)[0];
    const agents = agentNames(current)
      .filter((name) => caller.agents?.includes(name) !== false)
      .flatMap((name) => agentSettings(current, name) ?? [])
      .filter(({ name }) => after === undefined || name > after)
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .slice(0, query.limit + 1);
    const { items, nextCursor } = LIST.page(agents, query);
    return { items: await this.reports(items), nextCursor };
  }

  private async reports(agents: readonly AgentSettings[]): Promise<AgentReport[]> {
    const names = agents.map(({ name }) => name);
    const rows = await this.database.query<{ name: string; sessions: number; spent_today: number }>(
      ACTIVITY,
      [names],
    );
    const activity = new Map(rows.map((row) => [row.name, row]));
    return agents.map((agent) => ({
      ...agent,
      chain: this.models
        .of(agent, null)
        .map((one) => ({ name: one.label, problem: this.health.problemOf(one) })),
      sessions: activity.get(agent.name)?.sessions ?? 0,
      spentToday: activity.get(agent.name)?.spent_today ?? 0,
    }));
  }
}
