import type { Command } from 'commander';
import { readAt } from '../../platform/settings/dotted-path.js';
import { markLabels, needsSecurity, securityLabel, tomlValue } from '../../platform/settings/key-labels.js';
import { redactedTree } from '../../platform/settings/redaction.js';
import { type LoadedSettings, loadSettings, sourcesOf } from '../../platform/settings/settings-loader.js';
import { settingValues } from '../../platform/settings/settings-values.js';
import type { CommandContext } from '../command-context.js';

export function addConfigShowCommand(config: Command, context: CommandContext): void {
  config
    .command('show')
    .description('print every key with its value and where it comes from; secrets as ***REDACTED***')
    .option('--stored', 'with what was changed at run time, which is in the database')
    .option('--json', 'print an object, with what each key needs to be changed')
    .action(async (options: { readonly stored?: true; readonly json?: true }) => {
      const { environment, terminal } = context;
      const file = loadSettings({ environment, file: context.configFile() });
      const loaded = options.stored ? { ...file, ...(await withStored(context)) } : file;
      terminal.out(options.json ? asJson(loaded) : asLines(loaded));
      for (const warning of loaded.warnings) terminal.err(`warning: ${warning}\n`);
    });
}

async function withStored(context: CommandContext): Promise<Pick<LoadedSettings, 'settings' | 'sources'>> {
  const { withConfiguration } = await import('../with-configuration.js');
  return withConfiguration(context, 'read', ({ configuration }) => {
    const { settings, layers, overrides } = configuration.live.snapshot;
    return Promise.resolve({ settings, sources: sourcesOf(settings, [...layers, overrides]) });
  });
}

function asJson({ settings, file, sources }: LoadedSettings): string {
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
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

function asLines({ settings, sources }: LoadedSettings): string {
  const shown = redactedTree(settings);
  const lines = settingValues(settings).map(({ key, node }) => {
    const { layer, where } = sources.get(key) ?? { layer: 'default', where: '' };
    const why = needsSecurity(node.marks) ? `; ${securityLabel}` : '';
    return `${key} = ${tomlValue(readAt(shown, node.path))}  # ${where || layer}${why}\n`;
  });
  return lines.join('');
}
