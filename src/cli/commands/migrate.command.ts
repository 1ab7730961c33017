import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';

export function addMigrateCommand(program: Command, context: CommandContext): void {
  program
    .command('migrate')
    .description('bring the database up to date and say what ran; "serve" does it too')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      const { runMigrations } = await import('../run-migrations.js');
      const { migrations, place } = await runMigrations(context);
      const { terminal } = context;
      if (options.json) terminal.out(`${JSON.stringify({ migrations, database: place }, undefined, 2)}\n`);
      else if (migrations.length === 0) terminal.out(`Nothing to do: ${place} is up to date.\n`);
      else terminal.out(`${migrations.map((name) => `ran ${name}`).join('\n')}\n${place} is up to date.\n`);
    });
}
