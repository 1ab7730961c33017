import type { Command } from 'commander';
import { jsonSchema } from '../../platform/settings/json-schema.js';
import type { CommandContext } from '../command-context.js';

export function addConfigSchemaCommand(config: Command, { terminal }: CommandContext): void {
  config
    .command('schema')
    .description('print the JSON Schema of gateway.toml, for editors')
    .action(() => terminal.out(`${JSON.stringify(jsonSchema(), undefined, 2)}\n`));
}
