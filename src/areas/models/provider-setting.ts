import { sentenceOf } from '../../common/errors/error-text.js';
import type { Logger } from '../../platform/logging/logger.js';
import type { Egress } from '../../platform/outbound/egress.js';
import type { Environment } from '../../platform/settings/environment.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import type { LoadedSettings } from '../../platform/settings/settings-loader.js';
import {
  type PreparedChange,
  type SettingsChange,
  type SettingsSubscriber,
  touches,
} from '../../platform/settings/settings-subscribers.js';
import type { CrossKeyCheck } from '../../platform/settings/settings-validation.js';
import type { LiveModelProvider } from './live-model-provider.js';
import type { ModelProvider } from './model-provider.port.js';
import { createProvider } from './providers/create-provider.js';
import {
  chooseProvider,
  type ProviderChoice,
  type ProviderKeys,
  refusedByChoice,
} from './providers/provider-choice.js';

/** A change of `[provider]` makes another adapter; turns that run finish on the old one. */
export class ProviderSetting implements SettingsSubscriber {
  readonly name = 'model provider';

  constructor(
    private readonly provider: LiveModelProvider,
    private readonly keys: ProviderKeys,
    private readonly egress: Egress,
    private readonly logger: Logger,
  ) {}

  async prepare(change: SettingsChange): Promise<PreparedChange | undefined> {
    if (!touches(change, 'provider')) return undefined;
    const { provider: settings } = change.after;
    const choice = chooseProvider(settings, this.keys);
    const next = await openProvider(choice, settings.max_retries, this.egress);
    return {
      commit: () => {
        this.provider.replace(next);
        logChoice(this.logger, choice);
      },
    };
  }
}

export function openProvider(
  choice: ProviderChoice,
  maxRetries: number,
  egress: Egress,
): Promise<ModelProvider> {
  return createProvider(choice, { maxRetries }, egress);
}

export function logChoice(logger: Logger, { kind, model, why }: ProviderChoice): void {
  logger.info('the model provider is chosen', { provider: kind, model, why });
}

/** Settings that contradict each other, the keys or the model are refused like every other wrong setting. */
export function providerCheck(keys: ProviderKeys): CrossKeyCheck {
  return {
    keys: [
      ...(['provider.kind', 'provider.api_key', 'provider.base_url'] as const),
      ...['provider.model', 'provider.wire', 'agent.reasoning'],
    ],
    problem: (settings) => {
      try {
        checkedChoice(settings, keys);
        return undefined;
      } catch (error) {
        return sentenceOf(error);
      }
    },
  };
}

/** Which provider these settings and keys mean. Throws an `Error` that names the settings to mend. */
export function providerChoice(
  environment: Environment,
  { settings }: Pick<LoadedSettings, 'settings'>,
): ProviderChoice {
  return checkedChoice(settings, providerKeys(environment));
}

/** Throws an `Error` that names the settings to mend, also when the model does not take what the agent asks of it. */
function checkedChoice({ provider, agent }: GatewaySettings, keys: ProviderKeys): ProviderChoice {
  const choice = chooseProvider(provider, keys);
  const [refused] = refusedByChoice(choice, { model: choice.model, reasoning: agent.reasoning });
  if (refused !== undefined) throw new Error(`agent.${refused}.`);
  return choice;
}

export function providerKeys(environment: Environment): ProviderKeys {
  return { anthropic: environment.anthropicApiKey, openai: environment.openaiApiKey };
}
