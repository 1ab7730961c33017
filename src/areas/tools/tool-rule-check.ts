import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { Settings } from '../../platform/settings/settings.js';
import { SettingsChanges } from '../../platform/settings/settings-changes.js';
import { TokensService } from '../../platform/tokens/tokens.service.js';

/** Warns about rules for tokens that do not exist: with a mistyped name the intended token would keep every tool. */
@Injectable()
export class ToolRuleCheck implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private stopListening: () => void = () => undefined;

  constructor(
    private readonly tokens: TokensService,
    private readonly settings: Settings,
    private readonly changes: SettingsChanges,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::tools');
  }

  onApplicationBootstrap(): void {
    this.stopListening = this.changes.listen(
      ['tools.tokens'],
      ({ after }) => void this.check(Object.keys(after.tools.tokens)),
    );
    void this.check(Object.keys(this.settings.current.tools.tokens));
  }

  onModuleDestroy(): void {
    this.stopListening();
  }

  /** Never rejects: it is advice. */
  private async check(named: readonly string[]): Promise<void> {
    if (named.length === 0) return;
    try {
      const alive = (await this.tokens.list()).filter(({ revokedAt }) => revokedAt === null);
      const known = new Set(alive.flatMap(({ id, name }) => [id, name]));
      const strangers = named.filter((name) => !known.has(name));
      if (strangers.length > 0)
        this.logger.warn('rules in [tools.tokens] name tokens that do not exist and have no effect', {
          names: strangers,
        });
    } catch (error) {
      this.logger.debug('the rules in [tools.tokens] could not be checked', { error: String(error) });
    }
  }
}
