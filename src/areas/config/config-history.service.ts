import { Injectable } from '@nestjs/common';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { Database } from '../../platform/database/database.js';
import { refuseSomeAgents } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { ConfigStore } from './config.store.js';
import type { ConfigChange } from './config-change.js';

const LIST = new KeysetList<ConfigChange>('config_history', ['number'], ({ revision }) => [revision]);

/** Who changed what at run time, for operators. */
@Injectable()
export class ConfigHistory {
  private readonly store: ConfigStore;

  constructor(database: Database) {
    this.store = new ConfigStore(database);
  }

  /** Newest first. */
  async list(query: PageQuery, caller: Caller): Promise<Page<ConfigChange>> {
    refuseSomeAgents('the configuration is that', caller);
    const [before = ''] = LIST.after(query);
    return LIST.page(await this.store.page(before, query.limit + 1), query);
  }
}
