import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { arrayOf, double, nullable, text, timestamp } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Poller } from '../../platform/runtime/poller.js';
import { TurnStarter } from '../turns/turns.api.js';

const WRITE = statement({
  name: 'channels.write_activity',
  params: { names: arrayOf(text), seconds: arrayOf(double) },
  row: {},
  sql: `
    INSERT INTO channel_states AS known (name, last_message_at)
    SELECT name, to_timestamp(at) FROM unnest(:names::text[], :seconds::float8[]) AS noted (name, at) ORDER BY name
    ON CONFLICT (name) DO UPDATE SET last_message_at = greatest(known.last_message_at, EXCLUDED.last_message_at)`,
});
const READ = statement({
  name: 'channels.read_activity',
  params: { name: text },
  row: { last_message_at: nullable(timestamp) },
  sql: 'SELECT last_message_at FROM channel_states WHERE name = :name',
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
    const [row] = await this.database.query(READ, { name: channel });
    return row?.last_message_at ?? null;
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
