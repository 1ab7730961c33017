import { type AuthProvider, ClientCredentialsProvider } from '@modelcontextprotocol/client';
import type { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';

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

/** Throws when the variable of this name is not set. */
export function variable(name: string, environment: Environment): string {
  const value = environment.lookup(name)?.trim();
  if (value === undefined || value === '')
    throw new Error(`The variable ${name || '(none named)'} is not set.`);
  return value;
}
