import { sentenceOf } from '../../common/errors/error-text.js';
import type { Logger } from '../../platform/logging/logger.js';
import type { Redactor } from '../../platform/logging/redactor.js';
import type { Egress } from '../../platform/outbound/egress.js';
import { agentNames, agentSettings, DEFAULT_AGENT } from '../../platform/settings/agent-settings.js';
import type { Environment } from '../../platform/settings/environment.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { SettingsChange, SettingsStep } from '../../platform/settings/settings-changes.js';
import type { LoadedSettings } from '../../platform/settings/settings-loader.js';
import type { CrossKeyCheck } from '../../platform/settings/settings-validation.js';
import { agentOptions } from './model-chains.js';
import { providerNames, providerSettings, readModelName } from './model-names.js';
import type { ModelProvider } from './model-provider.port.js';
import { ModelProviders } from './model-providers.js';
import { createProvider } from './providers/create-provider.js';
import {
  chooseNamed,
  chooseProvider,
  DEFAULT_PROVIDER,
  type ProviderChoice,
  type ProviderKeys,
  providerSecrets,
  refusedByChoice,
} from './providers/provider-choice.js';

type ProviderTables = Pick<GatewaySettings, 'provider' | 'providers'>;

/** How providers are built from settings. */
export interface ProviderParts {
  readonly keys: ProviderKeys;
  readonly egress: Egress;
  readonly redactor: Redactor;
  readonly logger: Logger;
}

/** A change of `[provider]` or `[providers.*]` creates new adapters; running turns finish with the old ones. */
export class ProviderSetting implements SettingsStep {
  readonly name = 'model providers';
  readonly keys = ['provider', 'providers'];

  private constructor(
    readonly providers: ModelProviders,
    private open: ReadonlyMap<string, OpenProvider>,
    private readonly parts: ProviderParts,
  ) {}

  static async open(settings: ProviderTables, parts: ProviderParts): Promise<ProviderSetting> {
    const open = await openAll(settings, new Map(), parts);
    const setting = new ProviderSetting(new ModelProviders(speakersOf(open)), open, parts);
    setting.logChoice();
    return setting;
  }

  /** Fails when an adapter cannot be created, for example because its library does not load. */
  async prepare({ after }: SettingsChange): Promise<() => void> {
    const open = await openAll(after, this.open, this.parts);
    return () => {
      this.open = open;
      this.providers.replace(speakersOf(open));
      this.logChoice();
    };
  }

  /** The provider named `default`. */
  get choice(): ProviderChoice {
    const open = this.open.get(DEFAULT_PROVIDER);
    if (open === undefined) throw new Error('There is no default provider.');
    return open.choice;
  }

  private logChoice(): void {
    const { kind, model, why } = this.choice;
    const others = [...this.open.keys()].filter((name) => name !== DEFAULT_PROVIDER);
    this.parts.logger.info('the model provider is chosen', {
      ...{ provider: kind, model, why },
      ...(others.length > 0 && { others }),
    });
  }
}

interface OpenProvider {
  readonly choice: ProviderChoice;
  readonly maxRetries: number;
  readonly speaker: ModelProvider;
}

/** Providers whose settings did not change keep their connections. */
async function openAll(
  settings: ProviderTables,
  known: ReadonlyMap<string, OpenProvider>,
  { keys, egress, redactor }: ProviderParts,
): Promise<ReadonlyMap<string, OpenProvider>> {
  const choices = choicesOf(settings, keys);
  redactor.setFor('providers', [...choices.values()].flatMap(providerSecrets));
  const open = [...choices].map(async ([name, choice]): Promise<[string, OpenProvider]> => {
    const maxRetries = providerSettings(name, settings)?.max_retries ?? 0;
    const before = known.get(name);
    const isSame =
      JSON.stringify([before?.choice, before?.maxRetries]) === JSON.stringify([choice, maxRetries]);
    if (before !== undefined && isSame) return [name, before];
    return [name, { choice, maxRetries, speaker: await createProvider(choice, { maxRetries }, egress) }];
  });
  return new Map(await Promise.all(open));
}

function speakersOf(open: ReadonlyMap<string, OpenProvider>): ReadonlyMap<string, ModelProvider> {
  return new Map([...open].map(([name, { speaker }]) => [name, speaker]));
}

/** Every configured provider by its name. Throws an `Error` that names all settings to correct. */
function choicesOf(tables: ProviderTables, keys: ProviderKeys): ReadonlyMap<string, ProviderChoice> {
  const { choices, problems } = judged(tables, keys);
  if (problems.length > 0) throw new Error(problems.join(' '));
  return choices;
}

/**
 * The providers that can be used according to their settings, and what is wrong with the others, a sentence for each.
 */
function judged({ provider, providers }: ProviderTables, keys: ProviderKeys) {
  const choices = new Map<string, ProviderChoice>();
  const problems: string[] = [];
  const judge = (name: string, choose: () => ProviderChoice): void => {
    try {
      choices.set(name, choose());
    } catch (error) {
      problems.push(sentenceOf(error));
    }
  };
  judge(DEFAULT_PROVIDER, () => chooseProvider(provider, keys));
  for (const [name, settings] of Object.entries(providers))
    judge(name, () => chooseNamed(name, settings, keys));
  return { choices, problems };
}

/** Settings that contradict each other, the keys or the models are refused like every other wrong setting. */
export function providerChecks(keys: ProviderKeys): readonly CrossKeyCheck[] {
  return [
    {
      keys: [
        ...(['provider.kind', 'provider.api_key', 'provider.base_url'] as const),
        ...['provider.model', 'provider.wire', 'provider.api_key_env', 'providers'],
      ],
      problem: (settings) => problemOf(() => choicesOf(settings, keys)),
    },
    {
      keys: [
        ...(['agents', 'agent.reasoning', 'agent.models', 'agent.temperature', 'agent.top_p'] as const),
        ...['agent.stop', 'agent.tool_choice'],
      ],
      problem: (settings) => problemOf(() => refuseMisfits(settings, keys)),
    },
    {
      keys: ['agent.max_output_tokens', 'agent.context_tokens', 'agents'],
      problem: roomProblem,
    },
    { keys: ['channels_config'], problem: channelProblem },
  ];
}

/** The provider named `default`. Throws an `Error` that names the settings to correct. */
export function providerChoice(
  environment: Environment,
  { settings }: Pick<LoadedSettings, 'settings'>,
): ProviderChoice {
  const [problem] = providerChecks(providerKeys(environment)).flatMap(
    (check) => check.problem(settings) ?? [],
  );
  if (problem !== undefined) throw new Error(problem);
  return chooseProvider(settings.provider, providerKeys(environment));
}

export function providerKeys(environment: Environment): ProviderKeys {
  return {
    anthropic: environment.anthropicApiKey,
    openai: environment.openaiApiKey,
    lookup: (variable) => environment.lookup(variable),
  };
}

function problemOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return sentenceOf(error);
  }
}

/**
 * Throws an `Error` for each agent with a model that no provider has, or that does not support what the agent asks of
 * it.
 */
function refuseMisfits(settings: GatewaySettings, keys: ProviderKeys): void {
  const { choices } = judged(settings, keys);
  const problems = agentNames(settings).flatMap((name) => misfitsOf(name, settings, choices));
  if (problems.length > 0) throw new Error(`${problems.join('; ')}.`);
}

function misfitsOf(
  name: string,
  settings: GatewaySettings,
  choices: ReadonlyMap<string, ProviderChoice>,
): string[] {
  const section = name === DEFAULT_AGENT ? 'agent' : `agents.${name}`;
  let agent: ReturnType<typeof agentSettings>;
  try {
    agent = agentSettings(settings, name);
  } catch (error) {
    return [`${section}.system_prompt_file ${sentenceOf(error)}`];
  }
  if (agent === undefined) return [];
  const { models } = agent;
  const own = choices.get(DEFAULT_PROVIDER)?.model ?? '';
  const names =
    models.length > 0
      ? models.map((one) => readModelName(one, settings))
      : [{ provider: DEFAULT_PROVIDER, model: own }];
  return names.flatMap((one, index) => {
    if (one === undefined)
      return `${section}.models: entry ${index + 1} names a provider that is not configured; there are ${providerNames(settings).join(', ')}`;
    const choice = choices.get(one.provider);
    // What is wrong with its provider is reported by another rule.
    if (choice === undefined) return [];
    const options = { model: one.model, ...agentOptions(agent) };
    return refusedByChoice(choice, options).map((refused) => `${section}.${refused}`);
  });
}

/** The context has to hold both the question and the answer. */
function roomProblem({
  agent: { context_tokens: context, max_output_tokens: most },
  agents,
}: GatewaySettings) {
  const wrong = Object.entries(agents).flatMap(([name, { max_output_tokens: own = 0 }]) =>
    own < context ? [] : [`agents.${name}.max_output_tokens`],
  );
  if (most >= context) wrong.unshift('agent.max_output_tokens');
  if (wrong.length === 0) return undefined;
  return `${wrong.join(' and ')}: must be less than agent.context_tokens, which is ${context}.`;
}

function channelProblem(settings: GatewaySettings): string | undefined {
  const known = agentNames(settings);
  const wrong = Object.entries(settings.channels_config).filter(([, { agent }]) => !known.includes(agent));
  if (wrong.length === 0) return undefined;
  const keys = wrong.map(([name]) => `channels_config.${name}.agent`);
  return `${keys.join(' and ')} names an agent that is not configured; there are ${known.join(', ')}`;
}
