import { Command } from 'commander';
import { readBuildInfo } from '../platform/lifecycle/build-info.js';
import type { CommandContext } from './command-context.js';
import { addAgentsCommands } from './commands/agents.commands.js';
import { addAuditCommands } from './commands/audit.commands.js';
import { addAuthCommands } from './commands/auth/auth.commands.js';
import { addChatCommand } from './commands/chat.command.js';
import { addCompletionCommand } from './commands/completion.command.js';
import { addConfigCommands } from './commands/config/config.commands.js';
import { addExtensionCommands } from './commands/extensions.commands.js';
import { addHooksCommands } from './commands/hooks/hooks.commands.js';
import { addLogsCommand } from './commands/logs.commands.js';
import { addMemoryCommands } from './commands/memory.commands.js';
import { addMigrateCommand } from './commands/migrate.command.js';
import { addRemoteCommands } from './commands/remote-lists.commands.js';
import { addSecretsCommands } from './commands/secrets.commands.js';
import { addServeCommand } from './commands/serve.command.js';
import { addStatusCommands } from './commands/status.commands.js';
import { addToolsCommands } from './commands/tools/tools.commands.js';
import { addUsageCommand } from './commands/usage.command.js';
import { addUserCommands } from './commands/user.commands.js';

const AFTER_HELP = `
The gateway runs without any configuration: embedded PostgreSQL in ./data, no model key needed.
Settings come from gateway.toml and from GATEWAY__SECTION__KEY variables; "agent-gateway config show" lists them all.

Exit codes: 0 done, 1 failed (standard error says why), 2 wrong command line.`;

/** The whole command line. Commander writes to the terminal and throws `CommanderError` instead of exiting. */
export function createProgram(given: Omit<CommandContext, 'configFile' | 'remote'>): Command {
  const { terminal } = given;
  const program = new Command('agent-gateway');
  const context: CommandContext = {
    ...given,
    configFile: () => program.opts<{ config?: string }>().config,
    remote: () => program.opts<{ url?: string; token?: string }>(),
  };
  program
    .description('One gateway through which people and programs talk to AI agents.')
    .version(readBuildInfo().version, '-v, --version', 'print the version')
    .option('-c, --config <file>', 'read this file instead of GATEWAY_CONFIG or ./gateway.toml')
    .option('--url <url>', 'ask this running gateway, instead of AGENT_GATEWAY_URL')
    .option('--token <token>', 'with this token; AGENT_GATEWAY_TOKEN keeps it out of the list of processes')
    .addHelpText('after', AFTER_HELP)
    .hook('preAction', (_program, command) => refuseLocalOnly(program, command))
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
  addStatusCommands(program, context);
  addAgentsCommands(program, context);
  addRemoteCommands(program, context);
  addChatCommand(program, context);
  addLogsCommand(program, context);
  addExtensionCommands(program, context);
  addCompletionCommand(program, context);
  return program;
}

/** Commands that can ask a running gateway; all others work on the database of the settings. */
const REMOTE = [
  ...[
    'status',
    'doctor',
    'sessions',
    'agents',
    'channels',
    'mcp',
    'approvals',
    'chat',
    'logs',
    'plugins',
    'skills',
  ],
  ...[
    'usage',
    'audit list',
    'hooks list',
    'hooks deliveries',
    'hooks create',
    'hooks delete',
    'hooks redeliver',
  ],
  'completion',
];

/** A command that works on the database must not look as if it were done at the gateway of `--url`. */
function refuseLocalOnly(program: Command, command: Command): void {
  const { url } = program.opts<{ url?: string }>();
  const names = [];
  for (let at: Command | null = command; at !== null && at !== program; at = at.parent)
    names.unshift(at.name());
  const path = `${names.join(' ')} `;
  if (url === undefined || REMOTE.some((one) => path.startsWith(`${one} `))) return;
  command.error(
    `error: "${names.join(' ')}" works on the database of the settings and does not ask a gateway: leave out --url.`,
  );
}
