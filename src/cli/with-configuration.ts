import { randomBytes } from 'node:crypto';
import type { Configuration } from '../areas/config/configuration.js';
import { openConfiguration } from '../areas/config/open-configuration.js';
import { providerChecks, providerKeys } from '../areas/models/provider-setting.js';
import type { Database } from '../platform/database/database.js';
import { Redactor } from '../platform/logging/redactor.js';
import { NoMasterKey } from '../platform/secrets/open-secret-box.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import type { CommandContext } from './command-context.js';
import { type DatabaseAccess, withDatabase } from './with-database.js';

/** Opens the configuration with its run-time changes. Reading needs no master key: sealed values then give a warning each. */
export function withConfiguration<Result>(
  context: CommandContext,
  access: DatabaseAccess,
  work: (opened: { readonly configuration: Configuration; readonly database: Database }) => Promise<Result>,
): Promise<Result> {
  const { environment } = context;
  const checks = providerChecks(providerKeys(environment));
  return withDatabase(
    context,
    access,
    async ({ database, loaded, logs, openBox }) => {
      const box = await openBox().catch((error: unknown) => boxWithoutKey(error, access));
      const redactor = new Redactor();
      const configuration = await openConfiguration({
        environment,
        loaded,
        database,
        box,
        logs,
        redactor,
        checks,
      });
      return work({ configuration, database });
    },
    checks,
  );
}

/** For reading without the key: a box that opens nothing, so the command warns of sealed keys and shows the rest. */
function boxWithoutKey(error: unknown, access: DatabaseAccess): SecretBox {
  if (access === 'read' && error instanceof NoMasterKey) return new SecretBox(randomBytes(32));
  throw error;
}
