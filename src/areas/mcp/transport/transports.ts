import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { RecentSecrets } from '../../../platform/logging/recent-secrets.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import type { CallOrigin } from '../connection/call-origin.js';
import { ProofKeys } from '../dpop/proof-keys.js';
import { ToolIdentity } from '../identity/tool-identity.js';
import { WorkloadTokens } from '../identity/workload-tokens.js';
import { Sandbox } from '../sandbox/sandbox.service.js';
import { UserFolders } from '../sandbox/user-folders.js';
import { SignedInRequests } from '../sign-in/signed-in-requests.js';
import type { OnRefused } from './bounded-message.js';
import { askedBy, boundedResponse } from './bounded-response.js';
import { ChildTransport, type OnChildOutput } from './child-transport.js';
import { ClientTokens } from './client-tokens.js';
import { credentialsOf, needsCredentials } from './credentials.js';

/** Whose transport it is. */
export interface TransportOwner {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly origin: CallOrigin;
  /** The session at the server to resume, over streamable HTTP; a new one without it. */
  readonly session?: string;
}

/** The revision of the protocol whose sessions can run calls as tasks; no other has them. */
const TASKS_REVISION = '2025-11-25';

/** The most tokens and assertions of a server that are hidden. */
const MAX_CLIENT_SECRETS = 64;

/** Creates the transport that a server's settings ask for; every HTTP request goes through the outbound guard. */
@Injectable()
export class Transports {
  /** By server: the tokens that its connections got, and the assertions that they sent. */
  private readonly secrets = new Map<string, RecentSecrets>();

  constructor(
    private readonly sandbox: Sandbox,
    private readonly folders: UserFolders,
    private readonly outbound: OutboundClient,
    private readonly identity: ToolIdentity,
    private readonly workload: WorkloadTokens,
    private readonly signedIn: SignedInRequests,
    private readonly keys: ProofKeys,
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
    const authProvider = this.authProviderOf(name, server, origin);
    const guarded = this.outbound.fetch;
    const proven = authProvider instanceof ClientTokens ? authProvider.fetchFor(guarded) : guarded;
    const own = this.workload.fetchFor(name, server, origin, proven);
    const plain = this.identity.fetchFor(server, origin, own);
    const fetch = server.oauth_sign_in ? this.signedIn.fetchFor(name, server, plain) : plain;
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

  private authProviderOf(name: string, server: McpServerSettings, origin: CallOrigin) {
    if (server.oauth_sign_in) return this.signedIn.providerOf(name, server);
    if (!needsCredentials(server, origin)) return undefined;
    const credentials = credentialsOf(server, this.environment, (secret) => this.secretsOf(name).add(secret));
    return credentials === undefined || 'token' in credentials
      ? credentials
      : new ClientTokens(credentials, server, this.keys);
  }

  /** Each connection to a server, such as those of users, has a token of its own. */
  private secretsOf(name: string): RecentSecrets {
    const known = this.secrets.get(name);
    if (known !== undefined) return known;
    const secrets = new RecentSecrets(this.redactor, `OAuth client of ${name}`, MAX_CLIENT_SECRETS);
    this.secrets.set(name, secrets);
    return secrets;
  }

  /** What operators must know about such a server even though it works; undefined for nothing. */
  warningOf({ transport }: McpServerSettings): string | undefined {
    return transport === 'stdio' ? this.sandbox.warning : undefined;
  }
}
