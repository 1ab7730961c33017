import { TokenStore } from '../tokens/token.store.js';
import { TokensService } from '../tokens/tokens.service.js';
import type { CommandContext } from './command-context.js';
import { databasePlace } from './database-place.js';
import { withDatabase } from './with-database.js';

export interface TokenWork {
  readonly tokens: TokensService;
  /** Which database that was, for people. */
  readonly place: string;
}

/** API tokens, for commands. */
export function withTokens<Result>(
  context: CommandContext,
  work: (given: TokenWork) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, ({ database, loaded }) => {
    const tokens = new TokensService(new TokenStore(database), database);
    return work({ tokens, place: databasePlace(loaded.settings.database) });
  });
}
