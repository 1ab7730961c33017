export const MCP_SERVER_STATUSES = ['connected', 'reconnecting', 'disconnected'] as const;
export type McpServerStatus = (typeof MCP_SERVER_STATUSES)[number];

/** A configured tool server as it is at this moment. */
export interface McpServer {
  readonly name: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly status: McpServerStatus;
  readonly tools: readonly McpTool[];
  /** Set while connected. */
  readonly connectedAt: Date | undefined;
  /** Why it is not connected, when that was tried; redacted. */
  readonly error: string | undefined;
  /** What operators must know of it though it works: that it runs without a sandbox. */
  readonly warning: string | undefined;
}

export interface McpTool {
  /** Provider-safe: `server__tool`. */
  readonly name: string;
  readonly server: string;
  /** The name the server itself gives it. */
  readonly tool: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
