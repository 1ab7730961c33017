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
