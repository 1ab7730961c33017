import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';

const AFTER_HELP = `
SIGTERM or SIGINT stops it after running requests and turns have finished. A second signal interrupts them,
a third ends the process at once.`;

export function addServeCommand(program: Command, context: CommandContext): void {
  program
    .command('serve')
    .description('run the gateway: Profile A, Profile B and the operations port')
    .addHelpText('after', AFTER_HELP)
    .action(async () => {
      const { serve } = await import('../serve/serve.js');
      await serve(context);
    });
}
