import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Database } from '../../platform/database/database.js';
import { type AgentSettings, agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { ModelChains, ModelHealth } from '../models/models.api.js';
import { type AgentActivity, readActivity } from './agent-activity.js';
import { AgentReferences } from './agent-references.service.js';

/** An agent as it is configured, and what it is doing. */
export interface AgentReport extends AgentSettings, AgentActivity {
  readonly chain: readonly ModelReport[];
  /** Missing things that it names, a sentence for each. */
  readonly warnings: readonly string[];
}

export interface ModelReport {
  readonly name: string;
  /** Why it is skipped at the moment; undefined when it is not. */
  readonly problem: string | undefined;
}

const LIST = new KeysetList<AgentSettings>('agents', ['text'], ({ name }) => [name]);

/** The agents of this gateway, for operators. */
@Injectable()
export class AgentDirectory {
  constructor(
    private readonly settings: Settings,
    private readonly models: ModelChains,
    private readonly health: ModelHealth,
    private readonly references: AgentReferences,
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
    const activityOf = await readActivity(
      this.database,
      agents.map(({ name }) => name),
    );
    return agents.map((agent) => ({
      ...agent,
      chain: this.models
        .of(agent, null)
        .map((one) => ({ name: one.label, problem: this.health.problemOf(one) })),
      warnings: this.references.missingOf(agent),
      ...activityOf(agent.name),
    }));
  }
}
