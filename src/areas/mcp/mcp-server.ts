import type { ServerPrompt } from './prompts/server-prompt.js';

export const MCP_SERVER_STATUSES = ['connected', 'reconnecting', 'disconnected'] as const;
export type McpServerStatus = (typeof MCP_SERVER_STATUSES)[number];

/** A snapshot of a configured tool server. */
export interface McpServer {
  readonly name: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly status: McpServerStatus;
  readonly tools: readonly McpTool[];
  /** The prompts that people may ask for as `/command`. */
  readonly prompts: readonly ServerPrompt[];
  /** Set while connected. */
  readonly connectedAt: Date | undefined;
  /** Why the last attempt failed, redacted. */
  readonly error: string | undefined;
  /** What operators must know about it even though it works: that it runs without a sandbox. */
  readonly warning: string | undefined;
}

export interface McpTool {
  /** The name that models see, `server__tool`, within `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string;
  readonly server: string;
  /** The server's own name for it. */
  readonly tool: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
