import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { NotFound } from '../../common/errors/gateway-error.js';
import { AuditLog } from '../../platform/audit-log/audit-log.js';
import type { Sample } from '../../platform/metrics/scrape.service.js';
import type { McpServerSettings } from '../../platform/settings/sections/mcp.section.js';
import { Settings } from '../../platform/settings/settings.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { SettingsChanges } from '../../platform/settings/settings-changes.js';
import { type SourceState, type ToolContext, type ToolOutput, ToolSources } from '../tools/tools.api.js';
import { Connections } from './connection/connections.js';
import type { McpConnection } from './connection/mcp-connection.js';
import type { UserConnectionCounts } from './connection/user-connections.js';
import type { McpServer, McpServerStatus, McpTool } from './mcp-server.js';
import { PROMPT_CALL, type ServerPrompt, withOwnCommands } from './prompts/server-prompt.js';
import { folderOf } from './sandbox/user-folders.js';

export class McpServerNotFound extends NotFound {
  constructor() {
    super('There is no such MCP server. They are set up in the configuration file.');
  }
}

/** The tool servers of this gateway: one supervised connection for each that is configured and enabled. */
@Injectable()
export class McpServers implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly servers = new Map<string, McpConnection>();
  /** Connections of earlier settings that are still closing. */
  private readonly leaving = new Map<string, Promise<void>>();
  private stopListening: () => void = () => undefined;
  private isStarted = false;
  private isStopped = false;

  constructor(
    private readonly connections: Connections,
    private readonly settings: Settings,
    private readonly changes: SettingsChanges,
    private readonly audit: AuditLog,
    sources: ToolSources,
  ) {
    sources.expect(() => this.sourceState());
  }

  onApplicationBootstrap(): void {
    this.isStarted = true;
    this.stopListening = this.changes.listen(['mcp.servers'], ({ after }) =>
      this.apply(enabledServers(after)),
    );
    this.apply(enabledServers(this.settings.current));
  }

  async onModuleDestroy(): Promise<void> {
    this.stopListening();
    this.isStopped = true;
    this.apply(new Map());
    await Promise.all(this.leaving.values());
  }

  list(): readonly McpServer[] {
    const prompts = this.prompts();
    return [...this.servers].map(([name, connection]) => ({
      ...connection.describe(),
      prompts: prompts.get(name) ?? [],
    }));
  }

  tools(): readonly McpTool[] {
    return this.list().flatMap(({ tools }) => tools);
  }

  /** By command, without the slash. */
  findPrompt(command: string): { readonly server: string; readonly prompt: ServerPrompt } | undefined {
    for (const [server, prompts] of this.prompts()) {
      const prompt = prompts.find((one) => one.command === command);
      if (prompt !== undefined) return { server, prompt };
    }
    return undefined;
  }

  /** The prompts that people may ask for now, by server; no two have the same command. */
  private prompts(): ReadonlyMap<string, readonly ServerPrompt[]> {
    // Also those of servers that are away: their commands do not pass to another server meanwhile.
    const known = [...this.servers].map(([name, { knownPrompts }]) => [name, knownPrompts] as const);
    const named = withOwnCommands(new Map(known));
    return new Map([...named].filter(([name]) => this.servers.get(name)?.isUp()));
  }

  /** Asks for the prompt over the connection of the user of this context. Throws like a call of a tool. */
  getPrompt(
    server: string,
    name: string,
    values: Readonly<Record<string, string>>,
    signal: AbortSignal,
    context: ToolContext,
  ): Promise<ToolOutput> {
    const connection = this.servers.get(server);
    if (connection === undefined) throw new McpServerNotFound();
    return connection.call(PROMPT_CALL, { name, arguments: values }, signal, context);
  }

  /** How many connections of users there are to each server, as samples of a gauge. */
  userConnections(): readonly Sample<'server' | 'state'>[] {
    return [...this.servers].flatMap(([server, connection]) =>
      Object.entries(connection.userConnections).map(([state, value]: [string, number]) => ({
        labels: { server, state },
        value,
      })),
    );
  }

  /** How many connections of users there are to a server; none for an unknown one. */
  connectionsTo(server: string): UserConnectionCounts {
    return this.servers.get(server)?.userConnections ?? { busy: 0, idle: 0 };
  }

  /** Whether any server is not connected after a failed attempt. */
  get isFailing(): boolean {
    return [...this.servers.values()].some((connection) => connection.isFailing);
  }

  private sourceState(): SourceState {
    if (!this.isStarted) return 'not_begun';
    const all = [...this.servers.values()];
    if (all.some((connection) => connection.isTakingTools)) return 'taking';
    return all.every((connection) => connection.isUp() || connection.isFailing) ? 'settled' : 'coming';
  }

  /** Resolves at once; the server reconnects in the background. Throws `McpServerNotFound`. */
  async reconnect(name: string): Promise<{ name: string; status: McpServerStatus }> {
    const connection = this.servers.get(name);
    if (connection === undefined) throw new McpServerNotFound();
    await this.audit.record({ action: 'mcp.reconnected', target: name, outcome: 'success' });
    connection.reconnect();
    return { name, status: 'reconnecting' };
  }

  /** Connects anew with what is known now, such as the tokens of a sign-in; nothing for a name that is not connected to. */
  restart(name: string): void {
    this.servers.get(name)?.reconnect();
  }

  /** Of a server that is enabled. */
  settingsOf(name: string): McpServerSettings | undefined {
    return this.servers.get(name)?.settings;
  }

  /** Whether a server is not connected after a failed attempt. */
  isDown(name: string): boolean {
    return this.servers.get(name)?.isFailing === true;
  }

  /** Ends the connections of the user whose folders have this name; resolves when none of their children runs here. */
  async closeUsersOf(folder: string): Promise<void> {
    const connections = [...this.servers.values()];
    await Promise.all(connections.map((one) => one.closeUser((user) => folderOf(user) === folder)));
    await Promise.all(this.leaving.values());
  }

  /** Starts, stops and restarts servers to match these settings; servers whose settings are the same are left alone. */
  private apply(desired: ReadonlyMap<string, McpServerSettings>): void {
    for (const [name, connection] of this.servers) {
      const settings = desired.get(name);
      if (settings !== undefined && JSON.stringify(settings) === JSON.stringify(connection.settings))
        continue;
      this.servers.delete(name);
      this.disconnect(name, connection);
    }
    this.connections.hideSecrets([...desired.values()]);
    for (const [name, settings] of desired) if (!this.servers.has(name)) this.connect(name, settings);
  }

  /** Starts the next connection of a server when the last is closed: there is one at a time. */
  private connect(name: string, settings: McpServerSettings): void {
    const connection = this.connections.make(name, settings);
    this.servers.set(name, connection);
    const before = this.leaving.get(name) ?? Promise.resolve();
    void before.then(() => {
      if (!this.isStopped && this.servers.get(name) === connection) connection.start();
    });
  }

  private disconnect(name: string, connection: McpConnection): void {
    const before = this.leaving.get(name) ?? Promise.resolve();
    const gone = Promise.all([before, connection.stop()]).then(() => {
      if (this.leaving.get(name) === gone) this.leaving.delete(name);
    });
    this.leaving.set(name, gone);
  }
}

function enabledServers({ mcp }: GatewaySettings): ReadonlyMap<string, McpServerSettings> {
  return new Map(Object.entries(mcp.servers).filter(([, { enabled }]) => enabled));
}
