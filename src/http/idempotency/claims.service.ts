import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { CLAIM_SECS, KeyStore, type PresentedKey } from './key.store.js';

const RENEW_MS = (CLAIM_SECS * 1000) / 3;

/** Renews the claims of requests in progress here, so that other replicas know they are being served. */
@Injectable()
export class Claims implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly scopes = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: KeyStore,
    logs: Logs,
  ) {
    this.logger = logs.for('gateway::idempotency');
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.renew(), RENEW_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Renews the claim until it is released. */
  hold({ scope }: PresentedKey): void {
    this.scopes.add(scope);
  }

  release({ scope }: PresentedKey): void {
    this.scopes.delete(scope);
  }

  private async renew(): Promise<void> {
    if (this.scopes.size === 0) return;
    try {
      await this.store.renew([...this.scopes]);
    } catch (error) {
      this.logger.warn('idempotency claims could not be renewed; will retry', { error: String(error) });
    }
  }
}
