import { resolve } from 'node:path';
import { sentenceOf } from '../../common/errors/sentence-of.js';
import type { StartedGateway } from '../../main.js';
import type { Logger } from '../../platform/logging/logger.js';
import type { LoadedSettings } from '../../platform/settings/settings-loader.js';
import type { CommandContext } from '../command-context.js';
import { databaseLocation } from '../database-place.js';
import { writeFirstToken } from './first-token-file.js';
import { startBanner } from './start-banner.js';
import { urlsOf } from './urls.js';

/** Which of the standard streams end at a terminal. */
export interface Screens {
  readonly out: boolean;
  readonly err: boolean;
}

/**
 * Tells that the gateway runs: a line in the log, and a banner with lines to try on a terminal. Without one, standard
 * output is for log lines alone, and a first token goes into a file that its owner alone can read, whose path is logged.
 */
export async function announce(
  { environment, terminal }: Pick<CommandContext, 'environment' | 'terminal'>,
  facts: { readonly loaded: LoadedSettings; readonly gateway: StartedGateway },
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
    logger.error('the first token could not be kept: make another with `agent-gateway auth token create`', {
      reason: sentenceOf(error),
    });
  }
}
