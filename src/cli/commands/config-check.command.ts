import type { Command } from 'commander';
import { InvalidSettings } from '../../platform/settings/invalid-settings.js';
import type { CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';

export function addConfigCheckCommand(config: Command, context: CommandContext): void {
  config
    .command('check')
    .description('say everything that would stop a start with these settings; starts nothing')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      if (options.json) await checkAsJson(context);
      else await check(context);
    });
}

async function check(context: CommandContext): Promise<void> {
  const { checkedSettings } = await import('../checked-settings.js');
  const { file, sources, warnings } = checkedSettings(context);
  const { terminal } = context;
  for (const warning of warnings) terminal.err(`warning: ${warning}\n`);
  const set = [...sources.values()].filter(({ layer }) => layer !== 'default').length;
  const from = file === undefined ? 'the environment alone' : `${file} and the environment`;
  terminal.out(`The configuration is right: ${set} of ${sources.size} keys are set, from ${from}.\n`);
}

async function checkAsJson(context: CommandContext): Promise<void> {
  const { checkedSettings } = await import('../checked-settings.js');
  const { terminal } = context;
  try {
    const { file = null, warnings } = checkedSettings(context);
    terminal.out(`${JSON.stringify({ valid: true, file, warnings, problems: [] }, undefined, 2)}\n`);
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    terminal.out(`${JSON.stringify({ valid: false, problems: error.problems }, undefined, 2)}\n`);
    throw new CommandFailed();
  }
}
