import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Statement } from '../database/sql.js';
import { Channel, type ChannelProbe, type ChannelStatus } from './channel.port.js';

const ROUND_TRIP: Statement = { name: 'channels.round_trip', text: 'SELECT 1 AS one' };
const PATIENCE_MS = 10_000;

/** The built-in channel: this API. It is connected as long as the gateway runs; its round trip is the database's. */
@Injectable()
export class ApiChannel extends Channel {
  readonly name = 'api';
  readonly error = undefined;
  private since: Date | undefined = new Date();

  constructor(private readonly database: Database) {
    super();
  }

  get status(): ChannelStatus {
    return this.since === undefined ? 'reconnecting' : 'connected';
  }

  get connectedAt(): Date | undefined {
    return this.since;
  }

  /** There is no transport to tear down: it is connected again as soon as the caller has its answer. */
  restart(): void {
    this.since = undefined;
    setImmediate(() => {
      this.since = new Date();
    });
  }

  async probe(): Promise<ChannelProbe> {
    const startedAt = performance.now();
    const error = await this.ask();
    const latencyMs = Math.round(performance.now() - startedAt);
    return error === undefined ? { ok: true, latencyMs } : { ok: false, latencyMs, error };
  }

  private async ask(): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('the database did not answer in time'), PATIENCE_MS);
    });
    try {
      return await Promise.race([this.database.query(ROUND_TRIP).then(() => undefined), late]);
    } catch {
      return 'the database cannot be reached';
    } finally {
      clearTimeout(timer);
    }
  }
}
