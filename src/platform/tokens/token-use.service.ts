import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../logging/logger.js';
import { Poller } from '../runtime/poller.js';
import { TokenStore } from './token.store.js';

const FLUSH_MS = 30_000;

/** Records when tokens were last used, in one statement every half minute, so that no request waits for it. */
@Injectable()
export class TokenUse implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly used = new Set<string>();
  private readonly poller = new Poller({
    everyMs: FLUSH_MS,
    look: () => this.flush(),
    failed: (error) =>
      this.logger.debug('the last use of tokens could not be written; it will be tried again', {
        error: String(error),
      }),
  });

  constructor(
    private readonly store: TokenStore,
    logs: Logs,
  ) {
    this.logger = logs.for('tokens');
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
    await this.flush();
  }

  record(tokenId: string): void {
    this.used.add(tokenId);
  }

  private async flush(): Promise<void> {
    const ids = [...this.used];
    this.used.clear();
    if (ids.length === 0) return;
    await this.store.markUsed(ids).catch((error: unknown) => {
      for (const id of ids) this.used.add(id);
      this.logger.debug('the last use of tokens could not be written; it will be tried again', {
        error: String(error),
      });
    });
  }
}
