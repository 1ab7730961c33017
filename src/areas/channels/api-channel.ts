import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { API_CHANNEL } from '../sessions/sessions.api.js';
import { Channel, type ChannelProbe, type ChannelState, timedProbe } from './channel.port.js';

const ROUND_TRIP: Statement = { name: 'channels.round_trip', text: 'SELECT 1 AS one' };

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
