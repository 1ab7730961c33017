import { isAmong } from '../../common/text/name-pattern.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { DEFAULT_PROVIDER } from './providers/provider-choice.js';

/** A model at a provider, both by name. */
export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

type Providers = Pick<GatewaySettings, 'provider' | 'providers'>;

/**
 * Reads `model` or `provider/model`. Names of models may contain a slash themselves (`meta-llama/Llama-4`): such a name
 * is taken as a whole when `[provider]` names it, in `model` or in `allowed_models`. Undefined when the provider is
 * unknown.
 */
export function readModelName(text: string, settings: Providers): ModelName | undefined {
  const slash = text.indexOf('/');
  const provider = text.slice(0, slash);
  const model = text.slice(slash + 1);
  if (slash === -1) return { provider: DEFAULT_PROVIDER, model: text };
  if (isProvider(provider, settings)) return model === '' ? undefined : { provider, model };
  const { model: own, allowed_models: allowed } = settings.provider;
  const named = allowed.filter((pattern) => pattern !== '*');
  return text === own || isAmong(text, named) ? { provider: DEFAULT_PROVIDER, model: text } : undefined;
}

/** The name in answers, logs and settings. */
export function modelLabel({ provider, model }: ModelName): string {
  return provider === DEFAULT_PROVIDER ? model : `${provider}/${model}`;
}

/** `default`, then the others. */
export function providerNames({ providers }: Pick<Providers, 'providers'>): readonly string[] {
  return [DEFAULT_PROVIDER, ...Object.keys(providers)];
}

/** The settings of a provider. */
export function providerSettings(
  name: string,
  { provider, providers }: Providers,
): Omit<GatewaySettings['provider'], 'kind'> | undefined {
  if (name === DEFAULT_PROVIDER) return provider;
  return Object.hasOwn(providers, name) ? providers[name] : undefined;
}

function isProvider(name: string, settings: Providers): boolean {
  return providerSettings(name, settings) !== undefined;
}
