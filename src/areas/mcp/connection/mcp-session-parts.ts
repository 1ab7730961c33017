import type { Tool, Transport } from '@modelcontextprotocol/client';
import type { ArgumentCheck, ArgumentChecks } from '../../tools/tools.api.js';
import type { ServerRequestParts } from './server-requests.js';

/** What a session depends on besides its server. */
export interface McpSessionParts {
  readonly checks: ArgumentChecks;
  /** Called at once when the server says that its list of tools changed. */
  onToolsChanged(): void;
  /** The same for its prompts; absent where they are not listed. */
  onPromptsChanged?(): void;
  /** What it takes to answer a server's requests during a call. */
  readonly requests: Omit<ServerRequestParts, 'settings' | 'roots'>;
  /** For a connection that does not list tools itself: the output schemas of the connection that does. */
  outputs?(): ReadonlyMap<string, ArgumentCheck> | undefined;
  /** And its `headedTools`. */
  headedTools?(): ReadonlyMap<string, Tool> | undefined;
  /** And whether it has added the tools for resources. */
  hasResourceTools?(): boolean | undefined;
  /** And which tools it calls as tasks. */
  asTasks?(): ReadonlySet<string> | undefined;
  /** Creates a transport that resumes an earlier session at the server, which may be over. */
  reopen?(session: string): Transport;
}
