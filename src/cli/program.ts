import { Command } from 'commander';
import { readBuildInfo } from '../platform/lifecycle/build-info.js';
import type { CommandContext } from './command-context.js';
import { addAuditCommands } from './commands/audit.commands.js';
import { addAuthCommands } from './commands/auth.commands.js';
import { addConfigCommands } from './commands/config.commands.js';
import { addHooksCommands } from './commands/hooks.commands.js';
import { addMemoryCommands } from './commands/memory.commands.js';
import { addMigrateCommand } from './commands/migrate.command.js';
import { addSecretsCommands } from './commands/secrets.commands.js';
import { addServeCommand } from './commands/serve.command.js';
import { addToolsCommands } from './commands/tools.commands.js';
import { addUsageCommand } from './commands/usage.command.js';
import { addUserCommands } from './commands/user.commands.js';

const AFTER_HELP = `
The gateway runs without any configuration: embedded PostgreSQL in ./data, no model key needed.
Settings come from gateway.toml and from GATEWAY__SECTION__KEY variables; "agent-gateway config show" lists them all.

Exit codes: 0 done, 1 failed (standard error says why), 2 wrong command line.`;

/** The whole command line. Commander writes to the terminal and throws `CommanderError` instead of exiting. */
export function createProgram(given: Omit<CommandContext, 'configFile'>): Command {
  const { terminal } = given;
  const program = new Command('agent-gateway');
  const context: CommandContext = {
    ...given,
    configFile: () => program.opts<{ config?: string }>().config,
  };
  program
    .description('One gateway through which people and programs talk to AI agents.')
    .version(readBuildInfo().version, '-v, --version', 'print the version')
    .option('-c, --config <file>', 'read this file instead of GATEWAY_CONFIG or ./gateway.toml')
    .addHelpText('after', AFTER_HELP)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text) });
  addServeCommand(program, context);
  addAuthCommands(program, context);
  addMigrateCommand(program, context);
  addConfigCommands(program, context);
  addToolsCommands(program, context);
  addHooksCommands(program, context);
  addMemoryCommands(program, context);
  addUsageCommand(program, context);
  addAuditCommands(program, context);
  addSecretsCommands(program, context);
  addUserCommands(program, context);
  return program;
}
