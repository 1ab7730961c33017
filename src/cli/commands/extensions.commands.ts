import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { RemoteFailure } from '../remote/gateway-client.js';
import {
  act,
  columns,
  type JsonOption,
  type ListShape,
  type Row,
  showList,
  text,
} from '../remote/list-command.js';
import { gatewayOf } from '../remote/with-gateway.js';
import { jsonText } from '../terminal-text.js';

const MEBIBYTE = 1_048_576;

const PLUGINS: ListShape = {
  head: ['NAME', 'VERSION', 'STATUS', 'MEMORY', 'OFFERS', 'ERROR'],
  cells: (row) => [
    ...columns('name', 'version')(row),
    statusOf(row),
    `${memoryOf(row)} MiB`,
    text(row['capabilities'] ?? row['type']),
    text(row['error']),
  ],
  folded: [0, 4, 5],
  none: 'There are no plugins.',
};
const SKILLS: ListShape = {
  head: ['NAME', 'FROM', 'NEEDS', 'DESCRIPTION'],
  cells: columns('name', 'source', 'tools_required', 'description'),
  folded: [0, 2, 3],
  none: 'There are no skills.',
};

/** `plugins` and `skills` of a running gateway, of either profile. */
export function addExtensionCommands(program: Command, context: CommandContext): void {
  const plugins = program.command('plugins').description('plugins of a running gateway (--url)');
  listOf(plugins, context, 'plugins', PLUGINS).description('list plugins with their state and last error');
  act(plugins, context, 'reload', 'unload a plugin and load it again', (name) => reload(context, name));
  act(plugins, context, 'enable', 'load a plugin that was disabled', (name) => enable(context, name));
  act(plugins, context, 'disable', 'take a plugin out of use', (name) => change(context, name, 'disable'));
  const skills = program.command('skills').description('skills of a running gateway (--url)');
  listOf(skills, context, 'skills', SKILLS).description('list skills and what they are for');
}

/** Lists of both profiles, which have no pages. */
function listOf(parent: Command, context: CommandContext, name: string, shape: ListShape): Command {
  return parent
    .command('list')
    .option('--json', 'print an object')
    .action(async (options: JsonOption) => {
      const answer = await gatewayOf(context).get<Readonly<Record<string, readonly Row[]>>>(
        `/api/v1/${name}`,
      );
      if (options.json) context.terminal.out(jsonText(answer));
      else showList(context.terminal, shape, answer[name] ?? []);
    });
}

async function change(context: CommandContext, name: string, verb: string): Promise<Row> {
  const done = await gatewayOf(context).post<Row>(`/api/v1/plugins/${encodeURIComponent(name)}/${verb}`);
  return { ...done, status: statusOf(done) };
}

/** The profiles differ in how a plugin comes back: A enables it, B reloads it. */
async function enable(context: CommandContext, name: string): Promise<Row> {
  return change(context, name, (await profileOf(context)) === 'a' ? 'enable' : 'reload');
}

async function reload(context: CommandContext, name: string): Promise<Row> {
  if ((await profileOf(context)) === 'a')
    throw new RemoteFailure(
      'Profile A cannot reload a plugin: ask the port of Profile B, or disable and enable it.',
    );
  return change(context, name, 'reload');
}

async function profileOf(context: CommandContext): Promise<string> {
  return (await gatewayOf(context).get<{ profile: string }>('/admin/v1/me')).profile;
}

function statusOf({ status, enabled, error }: Row): string {
  if (typeof status === 'string') return status;
  if (error !== undefined) return 'failed';
  return enabled === true ? 'loaded' : 'disabled';
}

function memoryOf({ memory_usage_bytes: bytes, memory_usage_mb: mebibytes }: Row): string {
  return String(typeof bytes === 'number' ? Math.ceil(bytes / MEBIBYTE) : Number(mebibytes ?? 0));
}
