import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { type Person, personOf } from '../../areas/privacy/person.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { inApplication } from '../application.js';
import { userArgument } from '../arguments.js';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../exit-codes.js';
import { progressOn } from '../progress.js';
import { jsonText } from '../terminal-text.js';

const SEALED = { access: 'change', opens: 'secrets' } as const;

/** `user …`: everything that is stored of one person, to hand it out or to erase it. */
export function addUserCommands(program: Command, context: CommandContext): void {
  const user = program.command('user').description('everything that is stored of one person');
  addExport(user, context);
  addErase(user, context);
}

function addExport(user: Command, context: CommandContext): void {
  user
    .command('export')
    .description('print it as NDJSON, one document per table, all from the same moment')
    .argument('<id>', 'the user_id of their sessions; from a channel, such as telegram:4711', userArgument)
    .action(async (id: string) => {
      const { UserExport } = await import('../../areas/privacy/user-export.js');
      const { terminal } = context;
      const progress = progressOn(terminal, 'user export');
      const rows = await inApplication(context, SEALED, (app) =>
        app
          .get(UserExport)
          .run(
            personIn(app, id),
            (text) => terminal.out(text),
            (done, all) => progress.show(done, all),
          )
          .finally(() => progress.end()),
      );
      terminal.err(`${rows} rows are about this user.\n`);
    });
}

function addErase(user: Command, context: CommandContext): void {
  user
    .command('erase')
    .description('delete it for good; usage stays without the name, and the audit keeps that it was done')
    .argument('<id>', 'the user_id of their sessions; from a channel, such as telegram:4711', userArgument)
    .option('--yes', 'erase; without it, the command only says what it would do')
    .option('--json', 'print an object')
    .action(async (id: string, options: { readonly yes?: true; readonly json?: true }) => {
      const { terminal } = context;
      if (options.yes === undefined) {
        terminal.err(
          `This deletes everything of "${id}" for good. Look at it with "agent-gateway user export", then add --yes.\n`,
        );
        throw new CommandFailed();
      }
      const { UserEraser } = await import('../../areas/privacy/user-eraser.js');
      const progress = progressOn(terminal, 'user erase');
      const erasure = await inApplication(context, SEALED, (app) =>
        app
          .get(UserEraser)
          .run(personIn(app, id), (done, all) => progress.show(done, all))
          .finally(() => progress.end()),
      );
      if (options.json) terminal.out(jsonText(erasure));
      const rows = Object.values(erasure.deleted).reduce((sum, count) => sum + count, 0);
      terminal.err(`${rows} rows of this user were deleted.\n`);
      for (const key of erasure.configuration)
        terminal.err(`The configuration still names this user: ${key}\n`);
    });
}

/** Erased people are known by a hash that only the master key can compute. */
function personIn(app: INestApplicationContext, id: string): Person {
  return personOf(id, app.get(SecretBox).keyFor('agent-gateway erased users'));
}
