import { HookStore } from '../hooks/hook.store.js';
import { HookDesk } from '../hooks/hook-desk.js';
import { HookSecrets } from '../hooks/hook-secrets.js';
import type { CommandContext } from './command-context.js';
import { withDatabase } from './with-database.js';

export interface HookWork {
  readonly desk: HookDesk;
  readonly store: HookStore;
}

/** Webhooks with the key that opens their secrets, for commands. */
export function withHooks<Result>(
  context: CommandContext,
  work: (given: HookWork) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, async ({ database, openBox }) => {
    const secrets = new HookSecrets(await openBox());
    return work({ desk: new HookDesk(database), store: new HookStore(database, secrets) });
  });
}
