import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../../platform/database/database.js';
import { arrayOf, double, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Poller } from '../../platform/runtime/poller.js';
import { TurnStarter } from '../turns/turns.api.js';
import { ChannelStateEntity } from './channel.entities.js';

const WRITE = statement({
  name: 'channels.write_activity',
  params: { names: arrayOf(text), seconds: arrayOf(double) },
  row: {},
  sql: `
    INSERT INTO channel_states AS known (name, last_message_at)
    SELECT name, to_timestamp(at) FROM unnest(:names::text[], :seconds::float8[]) AS noted (name, at) ORDER BY name
    ON CONFLICT (name) DO UPDATE SET last_message_at = greatest(known.last_message_at, EXCLUDED.last_message_at)`,
});
const FLUSH_MS = 1000;

/** When each channel last received a message, over all replicas. Kept in memory and written once a second, never per message. */
@Injectable()
export class ChannelActivity implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  /** Unix milliseconds by channel; bounded by the number of channels. */
  private readonly noted = new Map<string, number>();
  private readonly poller = new Poller({
    everyMs: FLUSH_MS,
    look: () => this.flush(),
    failed: (error) =>
      this.logger.debug('channel activity could not be stored; will retry', { error: String(error) }),
  });

  constructor(
    private readonly database: Database,
    @InjectRepository(ChannelStateEntity) private readonly states: Repository<ChannelStateEntity>,
    turns: TurnStarter,
    logs: Logs,
  ) {
    this.logger = logs.for('channels');
    turns.onStart((channel) => this.note(channel));
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
    await this.flush();
  }

  note(channel: string): void {
    this.noted.set(channel, Date.now());
  }

  async lastMessageAt(channel: string): Promise<Date | null> {
    await this.flush();
    const state = await this.database.answered(this.states.findOneBy({ name: channel }));
    return state?.lastMessageAt ?? null;
  }

  private async flush(): Promise<void> {
    const noted = [...this.noted];
    if (noted.length === 0) return;
    this.noted.clear();
    const names = noted.map(([name]) => name);
    const seconds = noted.map(([, atMs]) => atMs / 1000);
    await this.database.query(WRITE, { names, seconds }).catch((error: unknown) => {
      for (const [name, atMs] of noted) if (!this.noted.has(name)) this.noted.set(name, atMs);
      this.logger.debug('channel activity could not be stored; will retry', {
        error: String(error),
      });
    });
  }
}
