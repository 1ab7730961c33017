import { Injectable } from '@nestjs/common';
import type { ChannelSettings } from '../../platform/settings/sections/channels.section.js';
import { Settings } from '../../platform/settings/settings.js';

export const API_CHANNEL = 'api';

/** The channels a session may belong to: the built-in `api` and every configured one, enabled or not. */
@Injectable()
export class ChannelDirectory {
  constructor(private readonly settings: Settings) {}

  names(): readonly string[] {
    return [API_CHANNEL, ...Object.keys(this.settings.current.channels_config)];
  }

  has(name: string): boolean {
    return name === API_CHANNEL || this.settingsOf(name) !== undefined;
  }

  /** Undefined for `api`, which has no settings, and for an unknown name. */
  settingsOf(name: string): ChannelSettings | undefined {
    const { channels_config: channels } = this.settings.current;
    return Object.hasOwn(channels, name) ? channels[name] : undefined;
  }
}
