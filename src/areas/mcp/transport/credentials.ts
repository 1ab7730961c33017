import { type AuthProvider, ClientCredentialsProvider } from '@modelcontextprotocol/client';
import type { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';

export type Credentials = AuthProvider | ClientCredentialsProvider | undefined;

/**
 * How the gateway authenticates to an HTTP server. Throws when a variable that the settings name is not set.
 * @param hide told of each token that an authorization server gives, before it is used
 */
export function credentialsOf(
  server: McpServerSettings,
  environment: Environment,
  hide: (token: string) => void,
): Credentials {
  if (server.oauth_client_id !== '') return clientCredentials(server, environment, hide);
  if (server.token_env === '') return undefined;
  const token = variable(server.token_env, environment);
  return { token: () => Promise.resolve(token) };
}

/** Whether the gateway has credentials of its own for such a server. */
export function hasCredentials({ oauth_client_id: client, token_env: name }: McpServerSettings): boolean {
  return client !== '' || name !== '';
}

/** The secrets of these servers that the environment holds, for the redactor. */
export function secretsInEnvironment(
  servers: readonly McpServerSettings[],
  environment: Environment,
): readonly string[] {
  const names = servers.flatMap((server) => [server.token_env, server.oauth_client_secret_env]);
  return names.flatMap((name) => (name === '' ? [] : (environment.lookup(name)?.trim() ?? [])));
}

/** Has its tokens hidden: a server may repeat them in what it says of a failure. */
class HiddenCredentials extends ClientCredentialsProvider {
  constructor(
    options: ConstructorParameters<typeof ClientCredentialsProvider>[0] & { expectedIssuer: string },
    private readonly hide: (token: string) => void,
  ) {
    super(options);
  }

  override saveTokens(tokens: Parameters<ClientCredentialsProvider['saveTokens']>[0]): void {
    this.hide(tokens.access_token);
    super.saveTokens(tokens);
  }
}

function clientCredentials(
  server: McpServerSettings,
  environment: Environment,
  hide: (token: string) => void,
): ClientCredentialsProvider {
  const { oauth_client_id: clientId, oauth_client_secret_env: name } = server;
  const { oauth_issuer: expectedIssuer, oauth_scope: scope } = server;
  const options = {
    ...{ clientId, clientSecret: variable(name, environment) },
    // Without it the secret would go to any authorization server that the tool server names.
    expectedIssuer,
    ...(scope === '' ? {} : { scope }),
  };
  return new HiddenCredentials(options, hide);
}

/** Throws when the variable of this name is not set. */
export function variable(name: string, environment: Environment): string {
  const value = environment.lookup(name)?.trim();
  if (value === undefined || value === '')
    throw new Error(`The variable ${name || '(none named)'} is not set.`);
  return value;
}
