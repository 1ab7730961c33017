import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { Redactor } from '../../../platform/logging/redactor.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { CallOrigin } from '../connection/call-origin.js';
import { ToolIdentity } from '../identity/tool-identity.js';
import { Sandbox } from '../sandbox/sandbox.service.js';
import { UserFolders } from '../sandbox/user-folders.js';
import type { OnRefused } from './bounded-message.js';
import { askedBy, boundedResponse } from './bounded-response.js';
import { ChildTransport, type OnChildOutput } from './child-transport.js';
import { credentialsOf } from './credentials.js';

/** Whose transport it is. */
export interface TransportOwner {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly origin: CallOrigin;
  /** A session at the server that is there already, over streamable HTTP; a new one without it. */
  readonly session?: string;
}

/** What a session has in which calls run as tasks: no other revision of the protocol has them. */
const TASKS_REVISION = '2025-11-25';

/** Creates the transport that a server's settings ask for; every HTTP request goes through the outbound guard. */
@Injectable()
export class Transports {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly folders: UserFolders,
    private readonly outbound: OutboundClient,
    private readonly identity: ToolIdentity,
    private readonly environment: Environment,
    private readonly redactor: Redactor,
  ) {}

  /**
   * `onOutput` gets what a child writes beside its messages, `onRefused` why a message was refused. Throws when a
   * variable for a credential is not set, and `SandboxMissing` or an error about grants for a child that may not start.
   */
  make(
    { name, settings: server, origin, session }: TransportOwner,
    onOutput: OnChildOutput,
    onRefused: OnRefused,
  ): Transport {
    if (server.transport === 'stdio') {
      const folder = server.isolation === 'shared' ? undefined : this.folders.create(name, origin.user);
      return new ChildTransport(this.sandbox.commandOf(server, folder), onOutput, onRefused);
    }
    const authProvider = needsCredentials(server, origin)
      ? credentialsOf(server, this.environment, (token) =>
          this.redactor.setFor(`client token of ${name}`, [token]),
        )
      : undefined;
    const fetch = this.identity.fetchFor(server, origin, this.outbound.fetch);
    const options = {
      fetch: async (to: string | URL, init?: RequestInit): Promise<Response> =>
        boundedResponse(await fetch(to, init), askedBy(init?.body), onRefused),
      requestInit: { headers: server.headers },
      ...(authProvider === undefined ? {} : { authProvider }),
    };
    const url = new URL(server.url);
    // Servers that only speak the older transport are still configured as "sse".
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    if (server.transport === 'sse') return new SSEClientTransport(url, options);
    // Getting more rights than these credentials have would take a person.
    const terms = { ...options, onInsufficientScope: 'throw' } as const;
    if (session === undefined) return new StreamableHTTPClientTransport(url, terms);
    const transport = new StreamableHTTPClientTransport(url, { ...terms, sessionId: session });
    transport.setProtocolVersion(TASKS_REVISION);
    return transport;
  }

  /** What operators must know about such a server even though it works; undefined for nothing. */
  warningOf({ transport }: McpServerSettings): string | undefined {
    return transport === 'stdio' ? this.sandbox.warning : undefined;
  }
}

/** Where a proof of the user takes the place of the gateway's own credentials, only the connection that lists tools has these. */
function needsCredentials(
  { identity, identity_header: header }: McpServerSettings,
  { user }: CallOrigin,
): boolean {
  return identity === 'none' || header !== '' || user === undefined;
}
