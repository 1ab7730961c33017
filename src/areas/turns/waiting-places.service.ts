import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { LeaseKeeper } from '../../platform/runtime/lease-keeper.js';
import { TurnStore } from './turn.store.js';
import { LEASE_SECS } from './turn-lease.js';

/** The place of a message whose caller waits here. */
export interface WaitingPlace {
  /** Whether nobody kept it for so long that others may have gone before it: the database or this process stood still. */
  readonly hasLapsed: boolean;
  /** It is kept no longer. */
  leave(): void;
}

/**
 * Keeps the places in line of messages whose callers wait at this replica. Those of a replica that died lapse, so that the
 * messages behind them, and the same message sent again, do not wait for it.
 */
@Injectable()
export class WaitingPlaces implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly places = new Map<string, { hasLapsed: boolean }>();
  private readonly keeper = new LeaseKeeper<{ hasLapsed: boolean }>({
    ...{ leaseMs: LEASE_SECS * 1000, isLostByTime: true, held: () => this.places },
    renew: (places) => this.store.keepPlaces([...places.keys()]),
    lost: (_turnId, place) => {
      place.hasLapsed = true;
    },
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

  /** Of a turn that has just lined up. */
  keep(turnId: string): WaitingPlace {
    const { places } = this;
    const place = { hasLapsed: false };
    places.set(turnId, place);
    return {
      get hasLapsed() {
        return place.hasLapsed;
      },
      leave: () => void places.delete(turnId),
    };
  }
}
