import { Injectable } from '@nestjs/common';
import { Logs } from '../../platform/logging/logger.js';
import { Redactor } from '../../platform/logging/redactor.js';
import { OutboundClient } from '../../platform/outbound/outbound-client.js';
import { Environment } from '../../platform/settings/environment.js';
import type { ChannelSettings } from '../../platform/settings/sections/channels.section.js';
import type { AdapterParts, ChannelAdapter } from './channel-adapter.port.js';
import { ChannelRefused } from './channel-failures.js';

type AdapterFactory = (parts: AdapterParts) => Promise<ChannelAdapter>;

/** The libraries of a type are loaded with its first channel. */
const FACTORIES: Readonly<Record<ChannelSettings['type'], AdapterFactory>> = {
  slack: async (parts) => new (await import('./adapters/slack/slack.adapter.js')).SlackAdapter(parts),
  teams: async (parts) => new (await import('./adapters/teams/teams.adapter.js')).TeamsAdapter(parts),
  telegram: async (parts) =>
    new (await import('./adapters/telegram/telegram.adapter.js')).TelegramAdapter(parts),
  webhook: async (parts) => new (await import('./adapters/webhook/webhook.adapter.js')).WebhookAdapter(parts),
};

/** Throws `ChannelRefused` when the settings are incomplete. */
function createAdapter(parts: AdapterParts): Promise<ChannelAdapter> {
  return FACTORIES[parts.settings.type](parts);
}

interface AdapterEntry {
  readonly settings: ChannelSettings;
  readonly adapter: Promise<ChannelAdapter>;
}

/** The adapters of the enabled channels, on every replica: any replica may have an answer to send. */
@Injectable()
export class ChannelAdapters {
  private readonly made = new Map<string, AdapterEntry>();

  constructor(
    private readonly environment: Environment,
    private readonly outbound: OutboundClient,
    private readonly redactor: Redactor,
    private readonly logs: Logs,
  ) {}

  names(): readonly string[] {
    return [...this.made.keys()];
  }

  /** Throws `ChannelRefused` when the settings are incomplete, and for a disabled channel. */
  async get(name: string): Promise<ChannelAdapter> {
    const made = this.made.get(name);
    if (made === undefined) throw new ChannelRefused('the channel is disabled');
    return made.adapter;
  }

  /** Recreates the adapters whose settings changed. @returns the channels that were added, removed or changed */
  follow(desired: ReadonlyMap<string, ChannelSettings>): ReadonlySet<string> {
    this.hideSecrets([...desired.values()]);
    const changed = new Set<string>();
    for (const [name, { settings }] of this.made) {
      if (JSON.stringify(settings) === JSON.stringify(desired.get(name))) continue;
      this.made.delete(name);
      changed.add(name);
    }
    for (const [name, settings] of desired) {
      if (this.made.has(name)) continue;
      changed.add(name);
      this.made.set(name, { settings, adapter: this.make(name, settings) });
    }
    return changed;
  }

  private make(name: string, settings: ChannelSettings): Promise<ChannelAdapter> {
    const { environment, outbound } = this;
    const adapter = createAdapter({
      ...{ name, settings, environment, outbound },
      logger: this.logs.for(`channel::${name}`),
    });
    // `get` reports the failure to callers that need the adapter.
    adapter.catch(() => undefined);
    return adapter;
  }

  /** Redacts secrets that come from variables; those in the settings are redacted already. */
  private hideSecrets(all: readonly ChannelSettings[]): void {
    const variables = all.flatMap(({ token_env, app_token_env, app_secret_env, secret_env }) => [
      token_env,
      app_token_env,
      app_secret_env,
      secret_env,
    ]);
    const secrets = variables.flatMap((variable) => this.environment.lookup(variable)?.trim() ?? []);
    this.redactor.setFor('channels', secrets);
  }
}
