import { Injectable } from '@nestjs/common';
import { Conflict } from '../../common/errors/gateway-error.js';
import { KeysetList, type Page } from '../../http/paging/keyset-list.js';
import type { PageQuery } from '../../http/paging/page-query.js';
import { refuseSomeAgents } from '../../platform/tokens/agent-access.js';
import type { Caller } from '../../platform/tokens/caller.js';
import type { UserConnectionCounts } from './connection/user-connections.js';
import type { McpServer } from './mcp-server.js';
import { McpServers } from './mcp-servers.service.js';
import { bindingOf, type SignInState, SignIns } from './sign-in/sign-ins.store.js';
import {
  type KnownTool,
  KnownTools,
  type QuarantinedTool,
  ToolNeverSeen,
} from './tools/known-tools.store.js';

/** A tool server as operators see it. */
export interface McpServerReport extends McpServer {
  /** Of users and sessions, on this replica. */
  readonly connections: UserConnectionCounts;
  /** The tools that wait for approval, by the server's own names. */
  readonly quarantined: readonly string[];
  /** Of a server to which operators sign in with a browser; undefined for any other. */
  readonly signIn: SignInState | undefined;
}

const SERVERS = new KeysetList<McpServer>('mcp_servers', ['text'], ({ name }) => [name]);
const TOOLS = new KeysetList('mcp_tools', ['text', 'text'], ({ server, tool }: KnownTool) => [server, tool]);

const NOT_SIGNED_IN: SignInState = { isSignedIn: false, by: null, at: null, problem: null };

/** The tool was changed after the operator looked at it. */
class ToolChangedSince extends Conflict {
  constructor() {
    super(
      'The tool is not in quarantine with this fingerprint any more: it changed again, or was approved. Look at it again.',
      { details: { reason: 'tool_changed' } },
    );
  }
}

/** Tool servers and all tools that they ever offered, for operators. */
@Injectable()
export class McpDirectory {
  constructor(
    private readonly servers: McpServers,
    private readonly known: KnownTools,
    private readonly signIns: SignIns,
  ) {}

  /** By name, as this replica sees them. */
  async list(query: PageQuery): Promise<Page<McpServerReport>> {
    const after = query.cursor === undefined ? undefined : SERVERS.after(query)[0];
    const found = this.servers
      .list()
      .filter(({ name }) => after === undefined || name > after)
      .sort((one, other) => (one.name < other.name ? -1 : 1));
    const { items, nextCursor } = SERVERS.page(found.slice(0, query.limit + 1), query);
    const held = await this.known.quarantined();
    const signIns = items.some(({ name }) => this.servers.settingsOf(name)?.oauth_sign_in)
      ? await this.signIns.all()
      : undefined;
    return { items: items.map((server) => this.report(server, held, signIns)), nextCursor };
  }

  /** By server and name. */
  async tools(
    { server, quarantined, ...query }: PageQuery & { server?: string | undefined; quarantined: boolean },
    caller: Caller,
  ): Promise<Page<KnownTool>> {
    refuseSomeAgents('the definitions of tools are those', caller);
    const filters = [server, quarantined];
    const after = query.cursor === undefined ? (['', ''] as const) : TOOLS.after(query, filters);
    const found = await this.known.page(after, { quarantinedOnly: quarantined, server }, query.limit + 1);
    return TOOLS.page(found, query, filters);
  }

  quarantined(): Promise<readonly QuarantinedTool[]> {
    return this.known.quarantined();
  }

  /**
   * Accepts one changed tool of a server, or all, as they are now; every replica offers them again. Throws
   * `ToolNeverSeen`, and `ToolChangedSince` when the definition that waits is another one.
   */
  async approve(
    server: string,
    { tool, fingerprint }: { readonly tool?: string | undefined; readonly fingerprint?: string | undefined },
    caller: Caller,
  ): Promise<readonly string[]> {
    refuseSomeAgents('the definitions of tools are those', caller);
    if (!(await this.known.hasSeen(server, tool))) throw new ToolNeverSeen(server, tool);
    const approved = await this.known.approve(server, tool, undefined, fingerprint);
    if (fingerprint !== undefined && approved.length === 0) throw new ToolChangedSince();
    return approved;
  }

  private report(
    server: McpServer,
    held: readonly QuarantinedTool[],
    signIns: Awaited<ReturnType<SignIns['all']>> | undefined,
  ): McpServerReport {
    const settings = this.servers.settingsOf(server.name);
    const found = signIns?.get(server.name);
    const current = found?.boundTo === (settings && bindingOf(settings)) ? found : undefined;
    return {
      ...server,
      connections: this.servers.connectionsTo(server.name),
      quarantined: held.filter((one) => one.server === server.name).map(({ tool }) => tool),
      signIn: settings?.oauth_sign_in === true ? (current ?? NOT_SIGNED_IN) : undefined,
    };
  }
}
