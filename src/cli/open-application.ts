import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { openConfiguration } from '../areas/config/open-configuration.js';
import { providerChecks, providerKeys } from '../areas/models/provider-setting.js';
import { Redactor } from '../platform/logging/redactor.js';
import { NoMasterKey } from '../platform/secrets/open-secret-box.js';
import { SecretBox } from '../platform/secrets/secret-box.js';
import type { CommandContext } from './command-context.js';
import { type CommandFoundation, CommandLineModule } from './command-line.module.js';
import { type DatabaseAccess, type DatabaseWork, withDatabase } from './with-database.js';

/** What a command opens: the database in one of three ways, and what else it needs. */
export interface Opening {
  readonly access: DatabaseAccess;
  /**
   * `secrets` is the box with the master key. `configuration` is that with the changes made at run time; reading it needs no
   * master key: sealed values then give a warning each.
   */
  readonly opens?: 'secrets' | 'configuration';
}

/** Works in an application context of the command line; see `inApplication`. Throws what opening and work throw. */
export function runInApplication<Result>(
  context: CommandContext,
  opening: Opening,
  work: (app: INestApplicationContext) => Promise<Result>,
): Promise<Result> {
  const checks = opening.opens === 'configuration' ? providerChecks(providerKeys(context.environment)) : [];
  const inDatabase = async (given: DatabaseWork): Promise<Result> => {
    const foundation = await foundationOf(context, opening, given);
    const app = await NestFactory.createApplicationContext(CommandLineModule.of(foundation), {
      logger: false,
      abortOnError: false,
    });
    return work(app).finally(() => app.close());
  };
  return withDatabase(context, opening.access, inDatabase, checks);
}

async function foundationOf(
  { environment }: CommandContext,
  { access, opens }: Opening,
  { database, loaded, logs, openBox }: DatabaseWork,
): Promise<CommandFoundation> {
  const redactor = new Redactor();
  const foundation = { environment, database, logs, redactor, settings: loaded.settings, openBox };
  if (opens === undefined) return foundation;
  if (opens === 'secrets') return { ...foundation, box: await openBox() };
  const box = await openBox().catch((error: unknown) => boxWithoutKey(error, access));
  const checks = providerChecks(providerKeys(environment));
  const configuration = await openConfiguration({
    ...{ environment, loaded, database, box, logs, redactor, checks },
  });
  return { ...foundation, configuration };
}

/** For reading without the key: a box that opens nothing, so the command warns of sealed keys and shows the rest. */
function boxWithoutKey(error: unknown, access: Opening['access']): SecretBox {
  if (access === 'read' && error instanceof NoMasterKey) return new SecretBox(randomBytes(32));
  throw error;
}
