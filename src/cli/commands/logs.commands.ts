import { type Command, Option } from 'commander';
import { countArgument, sinceArgument } from '../arguments.js';
import { type CommandContext, stopOf, type Terminal } from '../command-context.js';
import { paintWord } from '../paint.js';
import { showEvent } from '../remote/chat.js';
import { follow } from '../remote/follow.js';
import { type GatewayClient, withQuery } from '../remote/gateway-client.js';
import type { JsonOption } from '../remote/list-command.js';
import { type LogEntry, pollLogs } from '../remote/poll-logs.js';
import { gatewayOf } from '../remote/with-gateway.js';
import { jsonLine, jsonText, printable } from '../terminal-text.js';

interface LogsOptions {
  readonly follow?: true;
  readonly level: string;
  readonly module?: string;
  readonly since?: string;
  readonly limit: number;
  readonly json?: true;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
const LEVEL_WIDTH = 5;

/** `logs`: the log of all replicas, and as it grows. */
export function addLogsCommand(program: Command, context: CommandContext): void {
  program
    .command('logs')
    .description('print the log of all replicas of a running gateway, oldest line first (--url)')
    .option('-f, --follow', 'continue with new lines until Ctrl-C')
    .addOption(new Option('--level <level>', 'this and above').choices(LEVELS).default('info'))
    .option('--module <name>', 'only of this module and those below it, such as channel::telegram')
    .option('--since <time>', 'since then, such as 30m or 2026-01-31T12:00:00Z', sinceArgument, '1h')
    .option('--limit <count>', 'the newest of them, up to 10000', countArgument, 100)
    .option('--json', 'print an object; with --follow one per line')
    .action(async (options: LogsOptions) => {
      const client = gatewayOf(context);
      const { terminal } = context;
      const { profile } = await client.get<{ profile: 'a' | 'b' }>('/admin/v1/me');
      if (options.follow) await tail(client, profile, options, terminal);
      else {
        const { entries } = await client.get<{ entries: LogEntry[] }>(
          '/api/v1/logs',
          queryOf(profile, options),
        );
        if (options.json) terminal.out(jsonText({ entries }));
        else if (entries.length === 0) terminal.err('There are no such lines.\n');
        else for (const entry of entries) terminal.out(lineOf(entry, terminal));
      }
    });
}

/** `sessions watch`: what happens in a session, as it happens. */
export function addWatchCommand(sessions: Command, context: CommandContext): void {
  sessions
    .command('watch')
    .description('print the turns of a session as they happen, until Ctrl-C')
    .argument('<id>', 'its id')
    .option('--json', 'print each event as an object, one per line')
    .action(async (id: string, options: JsonOption) => {
      const client = gatewayOf(context);
      const { terminal } = context;
      const path = `/api/v1/sessions/${encodeURIComponent(id)}/messages`;
      // Only shows what waits, with the command that decides it: a watcher is not asked.
      const viewer = { client, terminal, sessionId: id, ask: () => Promise.resolve(undefined) };
      await follow({ client, path, terminal, signal: stopOf(terminal) }, async ({ event = '', data }) => {
        const parsed = JSON.parse(data) as Readonly<Record<string, unknown>>;
        if (options.json) terminal.out(jsonLine({ event, ...parsed }));
        else await showEvent(event, parsed, viewer);
      });
    });
}

function queryOf(profile: 'a' | 'b', { level, module, since, limit }: LogsOptions): Record<string, string> {
  const part = module === undefined ? {} : { [profile === 'b' ? 'module' : 'component']: module };
  // Profile A has no trace.
  const least = profile === 'a' && level === 'trace' ? 'debug' : level;
  return { level: least, ...part, since: since ?? '1h', limit: String(limit) };
}

async function tail(
  client: GatewayClient,
  profile: 'a' | 'b',
  options: LogsOptions,
  terminal: Terminal,
): Promise<void> {
  const signal = stopOf(terminal);
  const show = (entry: LogEntry): void =>
    terminal.out(options.json ? jsonLine(entry) : lineOf(entry, terminal));
  const query = queryOf(profile, options);
  if (profile === 'a') {
    await pollLogs({ client, query, show, terminal, signal });
    return;
  }
  const path = withQuery('/api/v1/logs', { ...query, stream: 'true' });
  await follow({ client, path, terminal, signal }, ({ event, data }) => {
    const parsed = JSON.parse(data) as LogEntry & {
      readonly reason?: string;
      readonly lines?: number | null;
    };
    if (event === 'log') show(parsed);
    else if (event === 'gap')
      terminal.err(
        `[${parsed.lines ?? 'some'} lines are missing here: ${printable(String(parsed.reason))}]\n`,
      );
  });
}

function lineOf(
  { timestamp, level, module, component, message, session_id }: LogEntry,
  { isColored = false }: Terminal,
): string {
  const time = timestamp.replace('T', ' ');
  const session = session_id === undefined ? '' : `  ${session_id}`;
  const shown = paintWord(level, isColored, printable(level).padEnd(LEVEL_WIDTH));
  return `${printable(time)}  ${shown}  ${printable(module ?? component ?? '')}  ${printable(message)}${printable(session)}\n`;
}
