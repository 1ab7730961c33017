import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../command-context.js';

const AFTER_HELP = `
Examples:
  agent-gateway config rollback        undoes the newest change made at run time
  agent-gateway config rollback 12     makes everything as it was right after revision 12; 0 is before all changes`;

export function addConfigRollbackCommand(config: Command, context: CommandContext): void {
  config
    .command('rollback')
    .description('undo changes made at run time; every gateway on the database has it within 1.5 s')
    .argument('[revision]', 'from "config history"', revisionArgument)
    .addHelpText('after', AFTER_HELP)
    .action(async (revision: bigint | undefined) => {
      const [{ withConfiguration }, { rollBack }, { operatorActor }] = await Promise.all([
        import('../with-configuration.js'),
        import('../../platform/settings/config-rollback.js'),
        import('../operator-actor.js'),
      ]);
      // Whoever has the database has all rights.
      const actor = { name: operatorActor(), tokenId: null, maySetSecurity: true };
      const keys = await withConfiguration(context, 'change', (opened) => rollBack(opened, actor, revision));
      const sentence = keys.length === 0 ? 'Nothing had to be changed.' : `Changed back: ${keys.join(', ')}.`;
      context.terminal.err(`${sentence}\n`);
    });
}

function revisionArgument(text: string): bigint {
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('It is a number; "config history" shows it.');
}
