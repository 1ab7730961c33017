import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { LeaseKeeper } from '../../platform/runtime/lease-keeper.js';
import { TurnStore } from './turn.store.js';
import { LEASE_SECS } from './turn-lease.js';

/**
 * Keeps the places in line of messages whose callers wait at this replica. Places of a replica that died lapse, so that later
 * messages, and the same message sent again, do not wait for it. Only the database decides whether a place has lapsed.
 */
@Injectable()
export class WaitingPlaces implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly places = new Map<string, true>();
  private readonly keeper = new LeaseKeeper<true>({
    ...{ leaseMs: LEASE_SECS * 1000, held: () => this.places },
    renew: (places) => this.store.keepPlaces([...places.keys()]),
    failed: (error, places) =>
      this.logger.warn('places of waiting messages could not be renewed; will retry', {
        places,
        error: String(error),
      }),
  });

  constructor(
    private readonly store: TurnStore,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  onApplicationBootstrap(): void {
    this.keeper.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.keeper.stop();
  }

  /** Of a turn that has just lined up, until `leave`. */
  keep(turnId: string): void {
    this.places.set(turnId, true);
  }

  leave(turnId: string): void {
    this.places.delete(turnId);
  }
}
