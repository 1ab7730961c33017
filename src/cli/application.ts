import type { INestApplicationContext } from '@nestjs/common';
import type { CommandContext } from './command-context.js';
import type { Opening } from './open-application.js';
import type { DatabaseAccess } from './with-database.js';

/**
 * Opens the database and creates the application context of a local command, from which the work takes what it needs:
 * `(app) => app.get(TokensService).list()`. Everything is closed after the work. The context is loaded only here, so
 * that remote commands and `--help` start without it; commands import what they need in the same way.
 */
export async function inApplication<Result>(
  context: CommandContext,
  opening: Opening | DatabaseAccess,
  work: (app: INestApplicationContext) => Promise<Result>,
): Promise<Result> {
  const { runInApplication } = await import('./open-application.js');
  return runInApplication(context, typeof opening === 'string' ? { access: opening } : opening, work);
}
