import { type Command, Option } from 'commander';
import type { CommandContext } from '../command-context.js';
import {
  act,
  columns,
  type JsonOption,
  list,
  type PagedShape,
  type Row,
  text,
} from '../remote/list-command.js';
import { remoteTable, second } from '../remote/remote-text.js';
import { gatewayOf } from '../remote/with-gateway.js';
import { jsonText, printable } from '../terminal-text.js';
import { addWatchCommand } from './logs.commands.js';

const SESSIONS: PagedShape = {
  path: '/admin/v1/sessions',
  head: ['ID', 'USER', 'AGENT', 'CHANNEL', 'STATUS', 'LAST ACTIVITY'],
  cells: (row) => [
    ...columns('id', 'user_id', 'agent', 'channel')(row),
    row['running'] === true ? 'running' : text(row['status']),
    second(text(row['last_activity'])),
  ],
  folded: [1, 2, 3],
  none: 'There are no such sessions.',
};
const CHANNELS: PagedShape = {
  path: '/admin/v1/channels',
  head: ['NAME', 'TYPE', 'STATUS', 'SESSIONS', 'ERROR'],
  cells: (row) => [
    ...columns('name', 'type')(row),
    row['enabled'] === true ? text(row['status']) : 'disabled',
    ...columns('active_sessions', 'error')(row),
  ],
  folded: [0, 4],
  none: 'There are no channels.',
};
const SERVERS: PagedShape = {
  path: '/admin/v1/mcp/servers',
  head: ['NAME', 'TRANSPORT', 'STATUS', 'TOOLS', 'QUARANTINED', 'ERROR'],
  cells: (row) => [
    ...columns('name', 'transport', 'status')(row),
    String((row['tools'] as readonly string[]).length),
    ...columns('quarantined', 'error')(row),
  ],
  folded: [0, 4, 5],
  none: 'There are no tool servers.',
};
const APPROVALS: PagedShape = {
  path: '/admin/v1/approvals',
  head: ['ID', 'TOOL', 'USER', 'UNTIL', 'ARGUMENTS'],
  cells: (row) => [
    ...columns('id', 'tool', 'user_id')(row),
    second(text(row['expires_at'])),
    text(row['arguments']),
  ],
  folded: [1, 2, 4],
  none: 'No call waits.',
};

/** `sessions`, `channels`, `mcp` and `approvals` of a running gateway. */
export function addRemoteCommands(program: Command, context: CommandContext): void {
  addSessions(program.command('sessions').description('sessions of a running gateway (--url)'), context);
  addChannels(program.command('channels').description('channels of a running gateway (--url)'), context);
  addServers(program.command('mcp').description('tool servers of a running gateway (--url)'), context);
  addApprovals(
    program.command('approvals').description('tool calls that wait at a running gateway (--url)'),
    context,
  );
}

function addSessions(sessions: Command, context: CommandContext): void {
  list(sessions, context, SESSIONS)
    .description('find sessions, newest first')
    .option('--query <text>', 'the beginning of an id with sess_, or a part of the id of a user')
    .option('--user <id>', 'only of this user')
    .option('--agent <name>', 'only of this agent')
    .option('--channel <name>', 'only of this channel')
    .addOption(
      new Option('--status <status>', 'only these').choices(['active', 'idle', 'terminated', 'live']),
    )
    .option('--since <time>', 'only those created since then, such as 24h or 2026-01-31');
  sessions
    .command('show')
    .description('show a session with what it used and cost')
    .argument('<id>', 'its id')
    .option('--json', 'print an object')
    .action(async (id: string, options: JsonOption) => {
      const row = await gatewayOf(context).get<Row>(`/admin/v1/sessions/${encodeURIComponent(id)}`);
      const lines = Object.entries(row).map(([key, value]) => [key, text(value)]);
      context.terminal.out(
        options.json
          ? jsonText(row)
          : remoteTable(['FIELD', 'VALUE'], lines, [1], context.terminal.isColored),
      );
    });
  addWatchCommand(sessions, context);
  act(sessions, context, 'end', 'end a session; a turn that runs is cancelled', async (id) => {
    await gatewayOf(context).delete(`/api/v1/sessions/${encodeURIComponent(id)}`);
    return { id, status: 'terminated' };
  });
}

function addChannels(channels: Command, context: CommandContext): void {
  list(channels, context, CHANNELS).description('list channels with their state and last error');
  act(channels, context, 'restart', 'reconnect a channel', (name) =>
    gatewayOf(context).post<Row>(`/admin/v1/channels/${encodeURIComponent(name)}/restart`),
  );
}

function addServers(mcp: Command, context: CommandContext): void {
  list(mcp, context, SERVERS).description('list tool servers, their tools in quarantine and last error');
  act(mcp, context, 'reconnect', 'reconnect a tool server', (name) =>
    gatewayOf(context).post<Row>(`/admin/v1/mcp/servers/${encodeURIComponent(name)}/reconnect`),
  );
  addSignIn(mcp, context);
  mcp
    .command('approve')
    .description('accept changed tools of a server as they are now')
    .argument('<server>', 'the server, as configured')
    .argument('[tool]', "the tool, by the server's own name")
    .option('--json', 'print an object')
    .action(async (server: string, tool: string | undefined, options: JsonOption) => {
      const path = `/admin/v1/mcp/servers/${encodeURIComponent(server)}/approve`;
      const answer = await gatewayOf(context).post<{ approved: string[] }>(
        path,
        tool === undefined ? {} : { tool },
      );
      const names = answer.approved.map(printable).join(', ');
      const sentence = names === '' ? 'Nothing was in quarantine.\n' : `Approved: ${names}.\n`;
      if (options.json) context.terminal.out(jsonText(answer));
      else context.terminal.err(sentence);
    });
}

function addSignIn(mcp: Command, context: CommandContext): void {
  mcp
    .command('sign-in')
    .description('make a link with which a person signs in to a tool server, in a browser')
    .argument('<name>', 'the server, as configured')
    .option('--json', 'print an object')
    .action(async (name: string, options: JsonOption) => {
      const link = await gatewayOf(context).post<{
        url: string;
        issuer: string;
        scope: string | null;
        expires_at: string;
      }>(signInAt(name));
      if (options.json) context.terminal.out(jsonText(link));
      else {
        const until = second(link.expires_at);
        const scope = link.scope === null ? '' : ` It asks for ${printable(link.scope)}.`;
        context.terminal.err(
          `Open this page in a browser until ${until}, and sign in at ${printable(link.issuer)}. All calls of the gateway to ${printable(name)} then have the rights of whoever signs in.${scope}\n`,
        );
        context.terminal.out(`${printable(link.url)}\n`);
      }
    });
  act(mcp, context, 'sign-out', 'forget the sign-in to a tool server, on all replicas', async (name) => {
    await gatewayOf(context).delete(signInAt(name));
    return { name, status: 'signed out' };
  });
}

const signInAt = (name: string): string => `/admin/v1/mcp/servers/${encodeURIComponent(name)}/sign-in`;

function addApprovals(approvals: Command, context: CommandContext): void {
  list(approvals, context, APPROVALS).description('list the calls that wait for a person, newest first');
  for (const decision of ['allow', 'deny'] as const)
    act(approvals, context, decision, `${decision} a call that waits`, (id) =>
      gatewayOf(context).post<Row>(`/admin/v1/approvals/${encodeURIComponent(id)}/decision`, { decision }),
    );
}
