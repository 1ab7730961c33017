import { TokenHooks } from '../areas/hooks/token-hooks.js';
import { TokenWaitingTurns } from '../areas/turns/accepted/token-waiting-turns.js';
import { TokenStore } from '../platform/tokens/token.store.js';
import { TokenEndings } from '../platform/tokens/token-endings.js';
import { TokensService } from '../platform/tokens/tokens.service.js';
import type { CommandContext } from './command-context.js';
import { databaseLocation } from './database-location.js';
import { type DatabaseAccess, withDatabase } from './with-database.js';

export interface TokenWork {
  readonly tokens: TokensService;
  /** The database, named for people. */
  readonly location: string;
}

/** Opens the API tokens. */
export function withTokens<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (given: TokenWork) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database, loaded }) => {
    const tokens = new TokensService(
      new TokenStore(database),
      database,
      TokenEndings.of(new TokenHooks(), new TokenWaitingTurns()),
    );
    return work({ tokens, location: databaseLocation(loaded.settings.database) });
  });
}
