import type { Transport } from '@modelcontextprotocol/client';
import type { Logger } from '../../../platform/logging/logger.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { ArgumentChecks } from '../../tools/schemas/argument-checks.js';
import type { OfferedTools, RunTool } from '../tools/offered-tools.js';

/** How a connection is seen by what it offers. */
export interface Callable {
  readonly call: RunTool;
  isUp(): boolean;
}

/** Everything that the connection of one server speaks to. */
export interface ConnectionParts {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly logger: Logger;
  readonly checks: ArgumentChecks;
  /** What operators must know of this server though it works. */
  readonly warning: string | undefined;
  /** Throws when the settings do not suffice to make one. */
  makeTransport(): Transport;
  /** What the server has in the catalogue; made for this connection. */
  offered(connection: Callable): OfferedTools;
  isAnyFree(tools: readonly string[]): Promise<boolean>;
  /** Told of every change between connected and not. `error` is redacted. */
  onChange(connected: boolean, error: string | undefined): void;
  redact(text: string): string;
  /** For what a server answers: it knows its credentials, but what merely looks like one may be somebody's file. */
  hideKnown(text: string): string;
}
