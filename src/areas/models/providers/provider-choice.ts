import { withoutEndSlashes } from '../../../common/text/without-end-slashes.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';
import type { ModelOptions } from '../model-provider.port.js';
import { refusedByClaude } from './anthropic/anthropic-models.js';
import { chosenWire, refusedByOpenAi } from './openai/openai-models.js';

export type ProviderKind = 'anthropic' | 'openai' | 'offline';
export type RemoteKind = Exclude<ProviderKind, 'offline'>;

/** The model of a session that names none, by kind: the balanced tier of each family. */
export const DEFAULT_MODELS = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-5.6-terra',
  offline: 'offline',
} as const satisfies Record<ProviderKind, string>;

export const OFFICIAL_BASE_URLS = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
} as const satisfies Record<RemoteKind, string>;

/** What `[provider]` and `[providers.<name>]` say. */
export type ProviderSettings = Omit<GatewaySettings['provider'], 'kind'> & {
  readonly kind: ProviderKind | 'auto';
};

/** The provider that `[provider]` describes; it always exists. */
export const DEFAULT_PROVIDER = 'default';

export interface ProviderChoice {
  /** Its name in the settings; absent is `default`. */
  readonly name?: string;
  readonly kind: ProviderKind;
  /** Empty when none is to be sent. Secret. */
  readonly apiKey: string;
  /** Empty for `offline`. */
  readonly baseUrl: string;
  /** The model of a session that names none. */
  readonly model: string;
  /** For `openai` only; absent is `auto`. */
  readonly wire?: GatewaySettings['provider']['wire'];
  /** Where its key is looked up, in words; absent is the kind's own variable. */
  readonly keySource?: string;
  /** For the log: what decided. */
  readonly why: string;
}

/** ANTHROPIC_API_KEY and OPENAI_API_KEY, and any variable by its name; an empty one counts as absent. */
export type ProviderKeys = Readonly<Record<RemoteKind, string | undefined>> & {
  readonly lookup?: (variable: string) => string | undefined;
};

export const KEY_VARIABLES = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' } as const;

const OFFLINE = { kind: 'offline', apiKey: '', baseUrl: '', model: DEFAULT_MODELS.offline } as const;

/**
 * The configured kind, else the one whose key is set (ANTHROPIC_API_KEY before OPENAI_API_KEY), else `offline`. Throws
 * an `Error` that names the settings to correct, and never shows a value.
 */
export function chooseProvider(settings: ProviderSettings, keys: ProviderKeys): ProviderChoice {
  if (settings.kind !== 'auto') return chosenKind(DEFAULT_PROVIDER, settings.kind, settings, keys);
  refuseUndirected(settings);
  for (const kind of ['anthropic', 'openai'] as const) {
    if (keys[kind]?.trim())
      return remote(DEFAULT_PROVIDER, kind, settings, { keys, why: `${KEY_VARIABLES[kind]} is set` });
  }
  return {
    ...OFFLINE,
    name: DEFAULT_PROVIDER,
    why: 'provider.kind is auto and neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set',
  };
}

/** The provider of `[providers.<name>]`. Throws like `chooseProvider`. */
export function chooseNamed(
  name: string,
  settings: GatewaySettings['providers'][string],
  keys: ProviderKeys,
): ProviderChoice {
  return chosenKind(name, settings.kind, settings, keys);
}

/** The table that describes a provider. */
export function sectionOf(name: string): string {
  return name === DEFAULT_PROVIDER ? 'provider' : `providers.${name}`;
}

function chosenKind(
  name: string,
  kind: ProviderKind,
  settings: ProviderSettings,
  keys: ProviderKeys,
): ProviderChoice {
  const why = `${sectionOf(name)}.kind is ${kind}`;
  if (kind === 'offline') return { ...OFFLINE, name, why };
  return remote(name, kind, settings, { keys, why });
}

/** Which of these options the chosen model does not support, a sentence for each; `offline` supports all. */
export function refusedByChoice(
  { kind, baseUrl, wire = 'auto' }: ProviderChoice,
  options: ModelOptions,
): string[] {
  switch (kind) {
    case 'anthropic':
      return refusedByClaude(options);
    case 'openai':
      return refusedByOpenAi(options, chosenWire(wire, baseUrl), baseUrl);
    case 'offline':
      return [];
    default:
      return kind satisfies never;
  }
}

/** The strings of a choice that must never be shown, for the redactor. */
export function providerSecrets(choice: ProviderChoice): string[] {
  return choice.apiKey === '' ? [] : [choice.apiKey];
}

function remote(
  name: string,
  kind: RemoteKind,
  settings: ProviderSettings,
  { keys, why }: { readonly keys: ProviderKeys; readonly why: string },
): ProviderChoice {
  const section = sectionOf(name);
  const { apiKey, keySource } = keyOf(name, kind, settings, keys);
  if (apiKey === '' && settings.base_url === '') {
    throw new Error(
      `${section}.kind is ${kind}, but there is no key: set ${keySource}, ` +
        `or ${section}.base_url to a compatible server that needs none.`,
    );
  }
  if (!/^[\x21-\x7e]*$/.test(apiKey)) {
    throw new Error(`The key of ${kind} (${keySource}) has characters that no key has.`);
  }
  const baseUrl = checkedBaseUrl(settings.base_url, section) || OFFICIAL_BASE_URLS[kind];
  const model = settings.model || DEFAULT_MODELS[kind];
  const wire = kind === 'openai' && { wire: settings.wire };
  return { name, kind, apiKey, baseUrl, model, why, keySource, ...wire };
}

/**
 * The key of `[provider]` may come from the kind's own variable; the key of another provider only from where its
 * settings say.
 */
function keyOf(
  name: string,
  kind: RemoteKind,
  { api_key: given, api_key_env: variable }: ProviderSettings,
  keys: ProviderKeys,
): { readonly apiKey: string; readonly keySource: string } {
  const section = sectionOf(name);
  const isDefault = name === DEFAULT_PROVIDER;
  const keySource = `${variable || (isDefault ? KEY_VARIABLES[kind] : `${section}.api_key_env`)} or ${section}.api_key`;
  if (given.trim() !== '') return { apiKey: given.trim(), keySource };
  if (variable === '') return { apiKey: (isDefault && keys[kind]?.trim()) || '', keySource };
  const named = keys.lookup?.(variable)?.trim();
  if (!named) throw new Error(`${section}.api_key_env names a variable that is not set.`);
  return { apiKey: named, keySource };
}

/** A key or an address without a kind could go to the wrong provider. */
function refuseUndirected(settings: ProviderSettings): void {
  const names = (['api_key', 'base_url'] as const).filter((name) => settings[name].trim() !== '');
  if (names.length === 0) return;
  const list = names.map((name) => `provider.${name}`).join(' and ');
  throw new Error(`provider.kind is auto, but ${list} is set: set provider.kind to anthropic or openai.`);
}

function checkedBaseUrl(text: string, section: string): string {
  if (text.trim() === '') return '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Error(`${section}.base_url is not an http or https URL.`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Error(
      `${section}.base_url must hold no credentials, query or fragment; put the key into ${section}.api_key.`,
    );
  }
  return withoutEndSlashes(url.href);
}
