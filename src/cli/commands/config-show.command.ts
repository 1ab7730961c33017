import type { Command } from 'commander';
import { readAt } from '../../config/dotted-path.js';
import { tomlValue } from '../../config/key-words.js';
import { redactedTree } from '../../config/redaction.js';
import { type LoadedSettings, loadSettings } from '../../config/settings-loader.js';
import { settingValues } from '../../config/settings-values.js';
import type { CommandContext } from '../command-context.js';

export function addConfigShowCommand(config: Command, context: CommandContext): void {
  config
    .command('show')
    .description('print every key with its value and where it comes from; secrets as ***REDACTED***')
    .option('--json', 'print an object')
    .action((options: { readonly json?: true }) => {
      const { environment, terminal } = context;
      const loaded = loadSettings({ environment, file: context.configFile() });
      terminal.out(options.json ? asJson(loaded) : asLines(loaded));
      for (const warning of loaded.warnings) terminal.err(`warning: ${warning}\n`);
    });
}

function asJson({ settings, file, sources }: LoadedSettings): string {
  const shown = {
    file: file ?? null,
    settings: redactedTree(settings),
    sources: Object.fromEntries(sources),
  };
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

function asLines({ settings, sources }: LoadedSettings): string {
  const shown = redactedTree(settings);
  const lines = settingValues(settings).map(({ key, node }) => {
    const { layer, where } = sources.get(key) ?? { layer: 'default', where: '' };
    return `${key} = ${tomlValue(readAt(shown, node.path))}  # ${where || layer}\n`;
  });
  return lines.join('');
}
