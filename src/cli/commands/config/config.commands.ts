import type { Command } from 'commander';
import { readAt } from '../../../platform/settings/dotted-path.js';
import { markLabels, needsSecurity, securityLabel } from '../../../platform/settings/key-marks.js';
import { redactedTree } from '../../../platform/settings/redaction.js';
import { type LoadedSettings, loadSettings, sourcesOf } from '../../../platform/settings/settings-loader.js';
import { jsonSchema, settingValues } from '../../../platform/settings/settings-tree.js';
import { InvalidSettings } from '../../../platform/settings/settings-validation.js';
import { tomlValue } from '../../../platform/settings/value-text.js';
import { inApplication } from '../../application.js';
import type { CommandContext } from '../../command-context.js';
import { CommandFailed } from '../../exit-codes.js';
import { jsonText } from '../../terminal-text.js';
import { addConfigHistoryCommands } from './config-history.commands.js';

/** `config …`: what the file and the environment set, and the changes made at run time, which are in the database. */
export function addConfigCommands(program: Command, context: CommandContext): void {
  const config = program.command('config').description('the settings, and changes made at run time');
  addCheck(config, context);
  addShow(config, context);
  addSchema(config, context);
  addConfigHistoryCommands(config, context);
}

function addCheck(config: Command, context: CommandContext): void {
  config
    .command('check')
    .description('report everything that would stop a start with these settings; starts nothing')
    .option('--json', 'print an object')
    .action(async (options: { readonly json?: true }) => {
      if (options.json) await checkAsJson(context);
      else await check(context);
    });
}

async function check(context: CommandContext): Promise<void> {
  const { file, sources, warnings } = await checked(context);
  const { terminal } = context;
  for (const warning of warnings) terminal.err(`warning: ${warning}\n`);
  const set = [...sources.values()].filter(({ layer }) => layer !== 'default').length;
  const from = file === undefined ? 'the environment alone' : `${file} and the environment`;
  terminal.out(`The configuration is valid: ${set} of ${sources.size} keys are set, from ${from}.\n`);
}

/** Settings with which a gateway can start, and what it would warn of. @throws InvalidSettings */
async function checked(context: CommandContext): Promise<LoadedSettings> {
  const [{ checkedSettings }, { agentWarnings }] = await Promise.all([
    import('../../checked-settings.js'),
    import('../../agent-offer.js'),
  ]);
  const loaded = checkedSettings(context);
  return { ...loaded, warnings: [...loaded.warnings, ...(await agentWarnings(loaded.settings))] };
}

async function checkAsJson(context: CommandContext): Promise<void> {
  const { terminal } = context;
  try {
    const { file = null, warnings } = await checked(context);
    terminal.out(jsonText({ valid: true, file, warnings, problems: [] }));
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    terminal.out(jsonText({ valid: false, problems: error.problems }));
    throw new CommandFailed();
  }
}

function addShow(config: Command, context: CommandContext): void {
  config
    .command('show')
    .description('print every key with its value and where it comes from; secrets as ***REDACTED***')
    .option('--stored', 'include changes made at run time, which are in the database')
    .option('--json', 'print an object that also says what changing each key needs')
    .action(async (options: { readonly stored?: true; readonly json?: true }) => {
      const { environment, terminal } = context;
      const file = loadSettings({ environment, file: context.configFile() });
      const loaded = options.stored ? { ...file, ...(await withStored(context)) } : file;
      terminal.out(options.json ? settingsJson(loaded) : settingsLines(loaded));
      for (const warning of loaded.warnings) terminal.err(`warning: ${warning}\n`);
    });
}

async function withStored(context: CommandContext): Promise<Pick<LoadedSettings, 'settings' | 'sources'>> {
  const { Configuration } = await import('../../../areas/config/configuration.js');
  return inApplication(context, { access: 'read', opens: 'configuration' }, (app) => {
    const { settings, layers, overrides } = app.get(Configuration).live.snapshot;
    return Promise.resolve({ settings, sources: sourcesOf(settings, [...layers, overrides]) });
  });
}

function settingsJson({ settings, file, sources }: LoadedSettings): string {
  const shown = {
    file: file ?? null,
    settings: redactedTree(settings),
    sources: Object.fromEntries(sources),
    marks: Object.fromEntries(
      settingValues(settings)
        .map(({ key, node }) => [key, markLabels(node.marks)] as const)
        .filter(([, marks]) => marks.length > 0),
    ),
  };
  return jsonText(shown);
}

function settingsLines({ settings, sources }: LoadedSettings): string {
  const shown = redactedTree(settings);
  const lines = settingValues(settings).map(({ key, node }) => {
    const { layer, where } = sources.get(key) ?? { layer: 'default', where: '' };
    const why = needsSecurity(node.marks) ? `; ${securityLabel}` : '';
    return `${key} = ${tomlValue(readAt(shown, node.path))}  # ${where || layer}${why}\n`;
  });
  return lines.join('');
}

function addSchema(config: Command, { terminal }: CommandContext): void {
  config
    .command('schema')
    .description('print the JSON Schema of gateway.toml, for editors')
    .action(() => terminal.out(jsonText(jsonSchema())));
}
