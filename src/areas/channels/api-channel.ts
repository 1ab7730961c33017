import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Statement } from '../../platform/database/sql.js';
import { Channel, type ChannelProbe, type ChannelState, timedProbe } from './channel.port.js';
import { API_CHANNEL } from './channel-directory.js';

const ROUND_TRIP: Statement = { name: 'channels.round_trip', text: 'SELECT 1 AS one' };

/** The built-in channel: this API. It is connected as long as the gateway runs; its round trip is the database's. */
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

  /** There is no transport to tear down: it is connected again as soon as the caller has its answer. */
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
