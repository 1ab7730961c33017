import { Injectable } from '@nestjs/common';
import { BadRequest, Conflict, Forbidden } from '../../common/errors/gateway-error.js';
import { isAmong } from '../../common/text/name-pattern.js';
import { type AgentSettings, agentSettings, DEFAULT_AGENT } from '../../platform/settings/agent-settings.js';
import { Settings } from '../../platform/settings/settings.js';
import { type ModelName, modelLabel, providerNames, providerSettings, readModelName } from './model-names.js';
import type { ModelOptions, ModelProvider, SamplingOptions } from './model-provider.port.js';
import { ModelProviders } from './model-providers.js';
import { DEFAULT_PROVIDER } from './providers/provider-choice.js';

/** A model that may answer, and its provider. */
export interface ModelCandidate extends ModelName {
  readonly speaker: ModelProvider;
  /** As answers and logs name it: `model`, or `provider/model` for any provider but `default`. */
  readonly label: string;
}

/** The models of a turn, in the order in which they are asked; at least one. */
export type ModelChain = readonly [ModelCandidate, ...ModelCandidate[]];

/** Which models answer for an agent, according to the current settings. */
@Injectable()
export class ModelChains {
  constructor(
    private readonly providers: ModelProviders,
    private readonly settings: Settings,
  ) {}

  /** The first model of the agent `default`, for sessions that name neither agent nor model. */
  get default(): ModelCandidate {
    const agent = agentSettings(this.settings.current, DEFAULT_AGENT);
    return agent === undefined ? this.ofDefaultProvider() : this.of(agent, null)[0];
  }

  /**
   * @param model that the session names; then only this model answers. Null for the agent's models.
   * Throws `ModelGone` when its provider is no longer configured.
   */
  of({ models }: Pick<AgentSettings, 'models'>, model: string | null): ModelChain {
    const names = model === null ? models : [model];
    const [first, ...others] = names.map((name) => this.candidate(name));
    return first === undefined ? [this.ofDefaultProvider()] : [first, ...others];
  }

  /** The model that a caller names for a session. Throws `UnknownProvider` and `ModelNotAllowed`. */
  refuseUnknown(text: string): void {
    const { current } = this.settings;
    const name = readModelName(text, current);
    if (name === undefined) throw new UnknownProvider(providerNames(current));
    const allowed = providerSettings(name.provider, current)?.allowed_models ?? [];
    if (!isAmong(name.model, allowed)) throw new ModelNotAllowed(name.provider, allowed);
  }

  /** The same, for a model that has to support what its agent asks of it. Throws `ModelUnfit` otherwise. */
  refuseUnfit(agent: AgentSettings, model: string): void {
    const [{ speaker, model: name, label }] = this.of(agent, model);
    const problems = speaker.unsupported({ model: name, ...agentOptions(agent) });
    if (problems.length > 0) throw new ModelUnfit(label, agent.name, problems);
  }

  private candidate(text: string): ModelCandidate {
    const name = readModelName(text, this.settings.current);
    const speaker = name && this.providers.get(name.provider);
    if (name === undefined || speaker === undefined) throw new ModelGone();
    return { ...name, speaker, label: modelLabel(name) };
  }

  private ofDefaultProvider(): ModelCandidate {
    const speaker = this.providers.default;
    const model = speaker.defaultModel;
    return { provider: DEFAULT_PROVIDER, model, speaker, label: model };
  }
}

/** The options of an agent that not every model supports. */
export function agentOptions(agent: AgentSettings): Omit<ModelOptions, 'model'> {
  const sampling = agentSampling(agent);
  return { reasoning: agent.reasoning, ...(sampling !== undefined && { sampling }) };
}

/** The sampling options that an agent sets; undefined for none. */
export function agentSampling({
  temperature,
  topP,
  stop,
  toolChoice,
}: Pick<AgentSettings, 'temperature' | 'topP' | 'stop' | 'toolChoice'>): SamplingOptions | undefined {
  if (temperature === undefined && topP === undefined && stop.length === 0 && toolChoice === '')
    return undefined;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop.length > 0 && { stop }),
    ...(toolChoice !== '' && { toolChoice: choiceOf(toolChoice) }),
  };
}

function choiceOf(text: string): NonNullable<SamplingOptions['toolChoice']> {
  return text === 'auto' || text === 'none' || text === 'required' ? text : { name: text };
}

class UnknownProvider extends BadRequest {
  constructor(known: readonly string[]) {
    super(
      `model: it names a provider that is not configured; name a model of ${known.join(', ')} as provider/model.`,
      { details: { reason: 'unknown_provider' } },
    );
  }
}

class ModelNotAllowed extends Forbidden {
  constructor(provider: string, allowed: readonly string[]) {
    const list = allowed.length === 0 ? 'none' : allowed.join(', ');
    super(`This model may not be named at the provider ${provider}. Allowed: ${list}.`, {
      details: { reason: 'model_not_allowed' },
    });
  }
}

class ModelUnfit extends BadRequest {
  constructor(label: string, agent: string, problems: readonly string[]) {
    super(`model: ${label} does not fit the settings of the agent "${agent}": ${problems.join('; ')}.`, {
      details: { reason: 'model_unfit' },
    });
  }
}

/** A session keeps its model; this one's provider was removed from the settings. */
class ModelGone extends Conflict {
  constructor() {
    super('The provider of the model of this session is no longer configured. Create a new session.', {
      details: { reason: 'unknown_provider' },
    });
  }
}
