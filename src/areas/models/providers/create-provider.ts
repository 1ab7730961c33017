import { Egress } from '../../../platform/outbound/egress.js';
import type { ModelProvider } from '../model-provider.port.js';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './protocol/stream-with-retries.js';
import { DEFAULT_PROVIDER, KEY_VARIABLES, type ProviderChoice, sectionOf } from './provider-choice.js';

/** Creates the adapter once, for all calls. Loads only the SDK that is needed: each costs start-up time and memory. */
export async function createProvider(
  choice: ProviderChoice,
  retries: Partial<RetryPolicy> = {},
  egress: Egress = Egress.direct(),
): Promise<ModelProvider> {
  const { name = DEFAULT_PROVIDER, kind } = choice;
  const variable = kind === 'offline' ? '' : KEY_VARIABLES[kind];
  const keySource = choice.keySource ?? `${variable} or provider.api_key`;
  const options = {
    label: name === DEFAULT_PROVIDER ? kind : `${name} (${kind})`,
    section: sectionOf(name),
    keySource,
    apiKey: choice.apiKey,
    baseUrl: choice.baseUrl,
    defaultModel: choice.model,
    retries: { ...DEFAULT_RETRY_POLICY, ...retries },
    egress,
  };
  switch (choice.kind) {
    case 'anthropic': {
      const { AnthropicProvider } = await import('./anthropic/anthropic.provider.js');
      return AnthropicProvider.create(options);
    }
    case 'openai': {
      const { OpenAiProvider } = await import('./openai/openai.provider.js');
      return OpenAiProvider.create({ ...options, wire: choice.wire ?? 'auto' });
    }
    case 'offline': {
      const { OfflineProvider } = await import('./offline/offline.provider.js');
      return new OfflineProvider();
    }
    default:
      return choice.kind satisfies never;
  }
}
