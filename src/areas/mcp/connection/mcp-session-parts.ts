import type { Tool, Transport } from '@modelcontextprotocol/client';
import type { ArgumentCheck, ArgumentChecks } from '../../tools/tools.api.js';
import type { ServerRequestParts } from './server-requests.js';

/** What a session depends on beside its server. */
export interface McpSessionParts {
  readonly checks: ArgumentChecks;
  /** Called at once when the server says that its list of tools changed. */
  onToolsChanged(): void;
  /** The same for its prompts; absent where they are not listed. */
  onPromptsChanged?(): void;
  /** What it takes to answer what a server asks for during a call. */
  readonly requests: Omit<ServerRequestParts, 'settings' | 'roots'>;
  /** The output schemas of a connection that lists the tools, for one that does not. */
  outputs?(): ReadonlyMap<string, ArgumentCheck> | undefined;
  /** And what `headedTools` has there. */
  headedTools?(): ReadonlyMap<string, Tool> | undefined;
  /** Whether the connection that lists the tools has added those for resources. */
  hasResourceTools?(): boolean | undefined;
  /** And which tools it calls as tasks. */
  asTasks?(): ReadonlySet<string> | undefined;
  /** Creates a transport that goes on in an earlier session at the server, which may be over. */
  reopen?(session: string): Transport;
}
