import { type Command, Option } from 'commander';
import type { CommandContext } from '../command-context.js';
import { jsonText } from '../terminal-text.js';

interface Options {
  readonly json?: true;
  readonly from?: 'embedded';
}

export function addMigrateCommand(program: Command, context: CommandContext): void {
  program
    .command('migrate')
    .description('bring the database up to date and say what ran; "serve" does it too')
    .addOption(
      new Option(
        '--from <database>',
        'also copy everything from the embedded database into the empty one of DATABASE_URL',
      ).choices(['embedded']),
    )
    .option('--json', 'print an object')
    .action((options: Options) =>
      options.from === undefined ? migrate(context, options) : move(context, options),
    );
}

async function migrate(context: CommandContext, { json }: Options): Promise<void> {
  const { runMigrations } = await import('../migrations.js');
  const { migrations, location } = await runMigrations(context);
  const { terminal } = context;
  if (json) terminal.out(jsonText({ migrations, database: location }));
  else if (migrations.length === 0) terminal.out(`Nothing to do: ${location} is up to date.\n`);
  else terminal.out(`${migrations.map((name) => `ran ${name}`).join('\n')}\n${location} is up to date.\n`);
}

async function move(context: CommandContext, { json }: Options): Promise<void> {
  const { moveDatabase } = await import('../migrations.js');
  const report = await moveDatabase(context);
  const { terminal } = context;
  if (json) {
    terminal.out(jsonText(report));
    return;
  }
  for (const { table, rows } of report.tables)
    if (rows > 0) terminal.out(`copied ${rows} rows of ${table}\n`);
  terminal.out(`${report.to} now has everything from the ${report.from}, which stays as it is.\n`);
  terminal.err(
    'Stored secrets open only with the same master key: set GATEWAY_MASTER_KEY to the content of its master.key.\n',
  );
}
