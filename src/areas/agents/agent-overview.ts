import type { Database } from '../../platform/database/database.js';
import { type AgentSettings, agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { coolingModels, modelLabel } from '../models/models.api.js';
import { type AgentActivity, readActivity } from './agent-activity.js';
import { missingReferences, type Offer } from './missing-references.js';

/** An agent according to settings and database, without a running gateway. */
export interface AgentOverview extends AgentSettings, AgentActivity {
  /** In the order in which they are asked; with the reason when one is skipped at the moment. */
  readonly chain: readonly { readonly name: string; readonly problem: string | undefined }[];
  /** Missing things that it names, a sentence for each. */
  readonly warnings: readonly string[];
}

/** By name. `defaultModel` is the model of `[provider]`. */
export async function readAgents(
  database: Database,
  settings: GatewaySettings,
  { offer, defaultModel }: { readonly offer: Offer; readonly defaultModel: string },
): Promise<readonly AgentOverview[]> {
  const names = [...agentNames(settings)].sort();
  const activityOf = await readActivity(database, names);
  const cooling = new Map((await coolingModels(database)).map((row) => [modelLabel(row), row.reason]));
  return names
    .flatMap((name) => agentSettings(settings, name) ?? [])
    .map((agent) => ({
      ...agent,
      chain: (agent.models.length === 0 ? [defaultModel] : agent.models).map((name) => ({
        name,
        problem: cooling.get(name),
      })),
      warnings: missingReferences(agent, offer),
      ...activityOf(agent.name),
    }));
}
