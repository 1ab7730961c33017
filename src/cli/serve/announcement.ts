import { open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sentenceOf } from '../../common/errors/error-text.js';
import type { Logger } from '../../platform/logging/logger.js';
import type { LoadedSettings } from '../../platform/settings/settings-loader.js';
import type { CommandContext } from '../command-context.js';
import { databaseLocation } from '../existing-database.js';
import type { ServedGateway } from './served-gateway.js';
import { startBanner, urlsOf } from './start-banner.js';

const TOKEN_FILE = 'first-token';

/** Which of the standard streams end at a terminal. */
export interface Screens {
  readonly out: boolean;
  readonly err: boolean;
}

/**
 * Announces that the gateway runs: one log line, and on a terminal a banner with lines to try. Without a terminal,
 * standard output carries log lines alone; the banner with a first token goes to a file readable by its owner alone,
 * whose path is logged.
 */
export async function announce(
  { environment, terminal }: Pick<CommandContext, 'environment' | 'terminal'>,
  facts: { readonly loaded: LoadedSettings; readonly gateway: ServedGateway },
  { screens, logger }: { readonly screens: Screens; readonly logger: Logger },
): Promise<void> {
  const { logging, database } = facts.loaded.settings;
  const banner = startBanner({ environment, ...facts });
  if (screens.out && logging.format !== 'json') terminal.out(banner);
  else if (screens.err) terminal.err(banner);
  else if (facts.gateway.firstToken !== undefined)
    await storeFirstToken(resolve(database.data_dir), banner, logger);
  const { a, b, operations } = urlsOf(facts);
  logger.info('the gateway is running', {
    profile_a: a,
    profile_b: b,
    operations,
    database: databaseLocation(database),
  });
}

async function storeFirstToken(dataDir: string, banner: string, logger: Logger): Promise<void> {
  try {
    const file = await writeFirstToken(dataDir, banner);
    logger.warn(
      "the administrator's first token is in a file that its owner alone can read: take it and delete the file",
      {
        file,
      },
    );
  } catch (error) {
    logger.error('the first token could not be stored: make another with `agent-gateway auth token create`', {
      reason: sentenceOf(error),
    });
  }
}

/**
 * Writes the banner with the token into the data folder, readable by its owner alone (0600), and replaces an older file.
 * Rejects when the folder cannot be written to. @returns the path of the file
 */
async function writeFirstToken(dataDir: string, text: string): Promise<string> {
  const path = join(dataDir, TOKEN_FILE);
  const fresh = join(dataDir, `.${TOKEN_FILE}.${process.pid}`);
  await rm(fresh, { force: true });
  const file = await open(fresh, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
  return path;
}
