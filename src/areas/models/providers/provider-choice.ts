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

export interface ProviderChoice {
  readonly kind: ProviderKind;
  /** Empty when none is to be sent. Secret. */
  readonly apiKey: string;
  /** Empty for `offline`. */
  readonly baseUrl: string;
  /** The model of a session that names none. */
  readonly model: string;
  /** Of `openai` alone; absent is `auto`. */
  readonly wire?: GatewaySettings['provider']['wire'];
  /** For the log: what decided. */
  readonly why: string;
}

/** ANTHROPIC_API_KEY and OPENAI_API_KEY; an empty one counts as absent. */
export type ProviderKeys = Readonly<Record<RemoteKind, string | undefined>>;

const KEY_VARIABLES = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' } as const;

const OFFLINE = { kind: 'offline', apiKey: '', baseUrl: '', model: DEFAULT_MODELS.offline } as const;

/**
 * The configured kind, else the one whose key is set (ANTHROPIC_API_KEY before OPENAI_API_KEY), else `offline`.
 * Throws an `Error` that names the settings to mend, and never shows the value of one.
 */
export function chooseProvider(settings: GatewaySettings['provider'], keys: ProviderKeys): ProviderChoice {
  if (settings.kind === 'offline') return { ...OFFLINE, why: 'provider.kind is offline' };
  if (settings.kind !== 'auto')
    return remote(settings.kind, settings, keys, `provider.kind is ${settings.kind}`);
  refuseUndirected(settings);
  for (const kind of ['anthropic', 'openai'] as const) {
    if (keys[kind]?.trim()) return remote(kind, settings, keys, `${KEY_VARIABLES[kind]} is set`);
  }
  return { ...OFFLINE, why: 'provider.kind is auto and neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set' };
}

/** What of these options the chosen model does not take, a sentence for each; `offline` takes all. */
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

/** The strings of a choice that must never be shown, for whoever redacts. */
export function providerSecrets(choice: ProviderChoice): string[] {
  return choice.apiKey === '' ? [] : [choice.apiKey];
}

function remote(
  kind: RemoteKind,
  settings: GatewaySettings['provider'],
  keys: ProviderKeys,
  why: string,
): ProviderChoice {
  const apiKey = settings.api_key.trim() || keys[kind]?.trim() || '';
  if (apiKey === '' && settings.base_url === '') {
    throw new Error(
      `provider.kind is ${kind}, but there is no key: set ${KEY_VARIABLES[kind]} or provider.api_key, ` +
        `or provider.base_url to a compatible server that needs none.`,
    );
  }
  if (!/^[\x21-\x7e]*$/.test(apiKey)) {
    throw new Error(
      `The key of ${kind} (${KEY_VARIABLES[kind]} or provider.api_key) has characters that no key has.`,
    );
  }
  const baseUrl = checkedBaseUrl(settings.base_url) || OFFICIAL_BASE_URLS[kind];
  const model = settings.model || DEFAULT_MODELS[kind];
  return { kind, apiKey, baseUrl, model, why, ...(kind === 'openai' && { wire: settings.wire }) };
}

/** A key or an address without a kind could go to the wrong provider. */
function refuseUndirected(settings: GatewaySettings['provider']): void {
  const names = (['api_key', 'base_url'] as const).filter((name) => settings[name].trim() !== '');
  if (names.length === 0) return;
  const list = names.map((name) => `provider.${name}`).join(' and ');
  throw new Error(`provider.kind is auto, but ${list} is set: set provider.kind to anthropic or openai.`);
}

function checkedBaseUrl(text: string): string {
  if (text.trim() === '') return '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Error('provider.base_url is not an http or https URL.');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Error(
      'provider.base_url must hold no credentials, query or fragment; put the key into provider.api_key.',
    );
  }
  return withoutEndSlashes(url.href);
}
