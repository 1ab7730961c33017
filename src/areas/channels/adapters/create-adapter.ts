import type { ChannelSettings } from '../../../platform/settings/sections/channels.section.js';
import type { ChannelAdapter } from '../channel-adapter.port.js';
import type { AdapterParts } from './adapter-parts.js';

type MakeAdapter = (parts: AdapterParts) => Promise<ChannelAdapter>;

/** What a type needs is loaded with the first channel of it. */
const MAKERS: Readonly<Record<ChannelSettings['type'], MakeAdapter>> = {
  slack: async (parts) => new (await import('./slack/slack.adapter.js')).SlackAdapter(parts),
  telegram: async (parts) => new (await import('./telegram/telegram.adapter.js')).TelegramAdapter(parts),
  webhook: async (parts) => new (await import('./webhook/webhook.adapter.js')).WebhookAdapter(parts),
};

/** Throws `ChannelRefused` when the settings do not suffice. */
export function createAdapter(parts: AdapterParts): Promise<ChannelAdapter> {
  return MAKERS[parts.settings.type](parts);
}
