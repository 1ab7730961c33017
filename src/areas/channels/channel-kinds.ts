import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { Database } from '../../platform/database/database.js';
import { integer } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import type { ChannelSettings } from '../../platform/settings/sections/channels.section.js';
import { API_CHANNEL } from '../sessions/sessions.api.js';
import { Channel, type ChannelProbe, type ChannelState, timedProbe } from './channel.port.js';
import type { ChannelAdapters } from './channel-adapters.js';
import type { ChannelStates } from './channel-states.store.js';
import { ChannelDisabled } from './channels.errors.js';
import type { ChannelSupervisor } from './supervision/channel-supervisor.service.js';

const ROUND_TRIP = statement({
  name: 'channels.round_trip',
  params: {},
  row: { one: integer },
  sql: 'SELECT 1 AS one',
});

/** The built-in channel: this API. It is connected while the gateway runs; its probe is a round trip to the database. */
@Injectable()
export class ApiChannel extends Channel {
  readonly name = API_CHANNEL;
  readonly enabled = true;
  private since: Date | undefined = new Date();

  constructor(private readonly database: Database) {
    super();
  }

  state(): Promise<ChannelState> {
    const { since } = this;
    const status = since === undefined ? 'reconnecting' : 'connected';
    return Promise.resolve({ status, connectedAt: since, error: undefined });
  }

  /** Nothing to tear down: it reports `connected` again as soon as the caller has its response. */
  restart(): Promise<void> {
    this.since = undefined;
    setImmediate(() => {
      this.since = new Date();
    });
    return Promise.resolve();
  }

  probe(): Promise<ChannelProbe> {
    return timedProbe(async () => {
      await this.database.query(ROUND_TRIP).catch(() => {
        throw new Error('the database cannot be reached');
      });
    });
  }
}

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
