import { Injectable } from '@nestjs/common';
import { NotFound } from '../errors/gateway-error.js';
import type { McpServer, McpServerStatus, McpTool } from './mcp-server.js';

export class McpServerNotFound extends NotFound {
  constructor() {
    super('There is no such MCP server. They are set up in the configuration file.');
  }
}

/** The tool servers of this gateway. None can be configured yet, so there are none. */
@Injectable()
export class McpServers {
  private readonly servers: ReadonlyMap<string, McpServer> = new Map();

  list(): readonly McpServer[] {
    return [...this.servers.values()];
  }

  tools(): readonly McpTool[] {
    return this.list().flatMap(({ tools }) => tools);
  }

  /** Throws `McpServerNotFound`. */
  reconnect(name: string): { name: string; status: McpServerStatus } {
    if (!this.servers.has(name)) throw new McpServerNotFound();
    return { name, status: 'reconnecting' };
  }
}
