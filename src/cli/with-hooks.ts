import { HookStore } from '../areas/hooks/hook.store.js';
import { HookAdmin } from '../areas/hooks/hook-admin.js';
import { HookSecrets } from '../areas/hooks/hook-secrets.js';
import type { CommandContext } from './command-context.js';
import { type DatabaseAccess, withDatabase } from './with-database.js';

/** Opens webhooks and their deliveries, without their secrets. */
export function withHooks<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (admin: HookAdmin) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, access, ({ database }) => work(new HookAdmin(database)));
}

/** Opens webhooks with the key to their secrets, for commands that change those. */
export function withHookSecrets<Result>(
  context: CommandContext,
  work: (store: HookStore) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, 'change', async ({ database, openBox }) =>
    work(new HookStore(database, new HookSecrets(await openBox()))),
  );
}
