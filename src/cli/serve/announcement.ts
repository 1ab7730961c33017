import { open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sentenceOf } from '../../common/errors/error-text.js';
import type { Logger } from '../../platform/logging/logger.js';
import type { LoadedSettings } from '../../platform/settings/settings-loader.js';
import type { CommandContext } from '../command-context.js';
import { databaseLocation } from '../existing-database.js';
import type { ServedGateway } from './served-gateway.js';
import { signInLink, startBanner, urlsOf } from './start-banner.js';

const TOKEN_FILE = 'first-token';
const LINK_FILE = 'sign-in-link';

/** Which of the standard streams are terminals. */
export interface Screens {
  readonly out: boolean;
  readonly err: boolean;
}

/**
 * Announces that the gateway runs: one log line, and on a terminal a banner with lines to try. Without a terminal,
 * standard output carries only log lines; the banner with a first token, and the link that signs in to the console, go
 * to files that only their owner can read, whose paths are logged.
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
  else await storeSecrets(resolve(database.data_dir), { ...facts, banner }, logger);
  const { a, b, operations } = urlsOf(facts);
  logger.info('the gateway is running', {
    profile_a: a,
    profile_b: b,
    operations,
    database: databaseLocation(database),
  });
}

async function storeSecrets(
  dataDir: string,
  facts: { readonly loaded: LoadedSettings; readonly gateway: ServedGateway; readonly banner: string },
  logger: Logger,
): Promise<void> {
  const link = signInLink(facts);
  if (link !== undefined) await storeLink(dataDir, link, logger);
  if (facts.gateway.firstToken !== undefined) await storeFirstToken(dataDir, facts.banner, logger);
}

async function storeLink(dataDir: string, link: string, logger: Logger): Promise<void> {
  try {
    const file = await writePrivately(dataDir, LINK_FILE, `${link}\n`);
    logger.info(
      'a link that signs in to the console once, within ten minutes, is in a file that its owner alone can read',
      { file },
    );
  } catch (error) {
    logger.debug('the link to the console could not be stored: sign in with a token', {
      reason: sentenceOf(error),
    });
  }
}

async function storeFirstToken(dataDir: string, banner: string, logger: Logger): Promise<void> {
  try {
    const file = await writePrivately(dataDir, TOKEN_FILE, banner);
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
 * Writes a file into the data folder, readable only by its owner (0600), and replaces an older one. Rejects when the
 * folder cannot be written to.
 * @returns the path of the file
 */
async function writePrivately(dataDir: string, name: string, text: string): Promise<string> {
  const path = join(dataDir, name);
  const fresh = join(dataDir, `.${name}.${process.pid}`);
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
