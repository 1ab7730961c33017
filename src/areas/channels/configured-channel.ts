import { sentenceOf } from '../../common/errors/error-text.js';
import type { ChannelSettings } from '../../platform/settings/sections/channels.section.js';
import { Channel, type ChannelProbe, type ChannelState, timedProbe } from './channel.port.js';
import type { ChannelAdapters } from './channel-adapters.js';
import type { ChannelStates } from './channel-states.store.js';
import { ChannelDisabled } from './channels.errors.js';
import type { ChannelSupervisor } from './supervision/channel-supervisor.service.js';

export interface ConfiguredChannelParts {
  readonly states: ChannelStates;
  readonly adapters: ChannelAdapters;
  readonly supervisor: ChannelSupervisor;
  redact(text: string): string;
}

const DISABLED: ChannelState = { status: 'disconnected', connectedAt: undefined, error: undefined };

/** A channel of `[channels_config]`; any replica may receive for it. */
export class ConfiguredChannel extends Channel {
  readonly enabled: boolean;

  constructor(
    readonly name: string,
    { enabled }: ChannelSettings,
    private readonly parts: ConfiguredChannelParts,
  ) {
    super();
    this.enabled = enabled;
  }

  async state(): Promise<ChannelState> {
    return this.enabled ? this.parts.states.of(this.name) : DISABLED;
  }

  async restart(): Promise<void> {
    if (!this.enabled) throw new ChannelDisabled(this.name);
    await this.parts.supervisor.restart(this.name);
  }

  probe(): Promise<ChannelProbe> {
    return timedProbe(async (signal) => {
      try {
        await (await this.parts.adapters.get(this.name)).check(signal);
      } catch (error) {
        throw new Error(this.parts.redact(sentenceOf(error)), {
          cause: error,
        });
      }
    });
  }
}
