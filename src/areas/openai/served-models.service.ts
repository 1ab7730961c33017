import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type AgentSettings, agentNames, agentSettings } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { AgentNotAllowed, refuseAgent, refuseForeignAgent } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { ModelChains } from '../models/models.api.js';
import { ModelNotFound } from './openai.errors.js';

/** What is to answer: an agent, and one of the models that it allows, or null for its own. */
export interface NamedAgent {
  readonly agent: AgentSettings;
  readonly model: string | null;
}

/** The models of OpenAI's API are agents here, as `agent` or `agent:model`. */
@Injectable()
export class ServedModels {
  constructor(
    private readonly settings: Settings,
    private readonly chains: ModelChains,
  ) {}

  /** The agents that the caller may use for this user, in the order of the settings. */
  list(caller: Caller, userId: string): readonly AgentSettings[] {
    const { current } = this.settings;
    return agentNames(current)
      .flatMap((name) => agentSettings(current, name) ?? [])
      .filter((agent) => mayUse(agent, caller, userId));
  }

  /** Throws `AgentNotAllowed` when the token is for other agents, and `ModelNotFound`, also for an agent of other users. */
  find(name: string, caller: Caller, userId: string): NamedAgent {
    const whole = this.agent(name);
    const colon = name.indexOf(':');
    // Checked before the lookup: such a caller does not learn which other agents there are.
    refuseForeignAgent(whole === undefined && colon !== -1 ? name.slice(0, colon) : name, caller);
    const agent = whole ?? (colon === -1 ? undefined : this.agent(name.slice(0, colon)));
    if (agent === undefined || !mayUse(agent, caller, userId)) throw new ModelNotFound(name);
    if (whole !== undefined) return { agent, model: null };
    const model = name.slice(colon + 1);
    if (!this.allows(agent, model)) throw new ModelNotFound(name);
    return { agent, model };
  }

  private agent(name: string): AgentSettings | undefined {
    return agentNames(this.settings.current).includes(name)
      ? agentSettings(this.settings.current, name)
      : undefined;
  }

  /**
   * An agent with a chain of its own allows the models of that chain; any other allows what its provider lets callers
   * name.
   */
  private allows({ models }: AgentSettings, model: string): boolean {
    if (models.length > 0) return models.includes(model);
    try {
      this.chains.refuseUnknown(model);
      return true;
    } catch (error) {
      if (error instanceof GatewayError) return false;
      throw error;
    }
  }
}

function mayUse(agent: AgentSettings, caller: Caller, userId: string): boolean {
  try {
    refuseAgent(agent, caller, userId);
    return true;
  } catch (error) {
    if (error instanceof AgentNotAllowed) return false;
    throw error;
  }
}
