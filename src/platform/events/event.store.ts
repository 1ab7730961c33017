import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { SqlRunner } from '../database/sql.js';
import { integer, json, nullable, text } from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import type { GatewayEvent } from './event-catalogue.js';

/** Notifies the deliverer of this process that an event was committed, so that its first attempt starts at once. */
@Injectable()
export class EventSignal {
  private listener: (() => void) | undefined;

  /** There is one deliverer in a process. */
  onCommitted(listener: () => void): void {
    this.listener = listener;
  }

  /** Call it after the commit. When a signal is lost, the deliverer's next poll finds the event. */
  committed(): void {
    this.listener?.();
  }

  /** The same, given the number of deliveries: nothing happens for none. */
  queued(deliveries: number | null | undefined): void {
    if (deliveries !== null && deliveries !== undefined && deliveries > 0) this.committed();
  }
}

const EMIT = statement({
  name: 'events.emit',
  params: { name: text, user: nullable(text), data: json() },
  row: { deliveries: integer },
  sql: 'SELECT emit_event(:name, :user, :data) AS deliveries',
});

/** The transactional outbox: an event exists if, and only if, the change that made it is committed. */
@Injectable()
export class EventStore {
  constructor(
    private readonly database: Database,
    private readonly signal: EventSignal,
  ) {}

  /**
   * Within the caller's transaction. After the commit call `EventSignal.committed()`; without it the first attempt
   * leaves at the deliverer's next poll, within a second.
   * @returns how many deliveries it has
   */
  async emit(runner: SqlRunner, event: GatewayEvent): Promise<number> {
    const params = { name: event.name, user: event.userId, data: JSON.stringify(event.data) };
    const [row] = await runner.query(EMIT, params);
    return row?.deliveries ?? 0;
  }

  /** For a change that is not stored: emits the event in a statement of its own and wakes the deliverer. */
  async publish(event: GatewayEvent): Promise<void> {
    this.signal.queued(await this.emit(this.database, event));
  }
}
