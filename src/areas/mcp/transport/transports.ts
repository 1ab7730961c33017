import {
  type AuthProvider,
  ClientCredentialsProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { Sandbox } from '../sandbox/sandbox.service.js';
import type { OnRefused } from './bounded-message.js';
import { askedBy, boundedResponse } from './bounded-response.js';
import { ChildTransport, type OnChildOutput } from './child-transport.js';

/** Creates the transport that a server's settings ask for; every HTTP request goes through the outbound guard. */
@Injectable()
export class Transports {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly outbound: OutboundClient,
    private readonly environment: Environment,
  ) {}

  /**
   * `onOutput` gets what a child writes beside its messages, `onRefused` why a message was refused. Throws when a
   * variable for a credential is not set, and `SandboxMissing` or an error about grants for a child that may not start.
   */
  make(server: McpServerSettings, onOutput: OnChildOutput, onRefused: OnRefused): Transport {
    if (server.transport === 'stdio')
      return new ChildTransport(this.sandbox.commandOf(server), onOutput, onRefused);
    const authProvider = credentialsOf(server, this.environment);
    const options = {
      fetch: async (to: string | URL, init?: RequestInit): Promise<Response> =>
        boundedResponse(await this.outbound.fetch(to, init), askedBy(init?.body), onRefused),
      requestInit: { headers: server.headers },
      ...(authProvider === undefined ? {} : { authProvider }),
    };
    const url = new URL(server.url);
    // Servers that only speak the older transport are still configured as "sse".
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    if (server.transport === 'sse') return new SSEClientTransport(url, options);
    // Getting more rights than these credentials have would take a person.
    return new StreamableHTTPClientTransport(url, { ...options, onInsufficientScope: 'throw' });
  }

  /** What operators must know about such a server even though it works; undefined for nothing. */
  warningOf({ transport }: McpServerSettings): string | undefined {
    return transport === 'stdio' ? this.sandbox.warning : undefined;
  }
}

export type Credentials = AuthProvider | ClientCredentialsProvider | undefined;

/** How the gateway authenticates to an HTTP server. Throws when a variable that the settings name is not set. */
export function credentialsOf(server: McpServerSettings, environment: Environment): Credentials {
  if (server.oauth_client_id !== '') return clientCredentials(server, environment);
  if (server.token_env === '') return undefined;
  const token = variable(server.token_env, environment);
  return { token: () => Promise.resolve(token) };
}

/** The secrets of these servers that the environment holds, for the redactor. */
export function secretsInEnvironment(
  servers: readonly McpServerSettings[],
  environment: Environment,
): readonly string[] {
  const names = servers.flatMap((server) => [server.token_env, server.oauth_client_secret_env]);
  return names.flatMap((name) => (name === '' ? [] : (environment.lookup(name)?.trim() ?? [])));
}

function clientCredentials(server: McpServerSettings, environment: Environment): ClientCredentialsProvider {
  const { oauth_client_id: clientId, oauth_client_secret_env: name } = server;
  const { oauth_issuer: expectedIssuer, oauth_scope: scope } = server;
  return new ClientCredentialsProvider({
    clientId,
    clientSecret: variable(name, environment),
    // Without it the secret would go to any authorization server that the tool server names.
    expectedIssuer,
    ...(scope === '' ? {} : { scope }),
  });
}

function variable(name: string, environment: Environment): string {
  const value = environment.lookup(name)?.trim();
  if (value === undefined || value === '')
    throw new Error(`The variable ${name || '(none named)'} is not set.`);
  return value;
}
