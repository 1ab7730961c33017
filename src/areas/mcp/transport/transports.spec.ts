import type { AuthProvider, ClientCredentialsProvider } from '@modelcontextprotocol/client';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { credentialsOf, secretsInEnvironment } from './credentials.js';

const environment = new Environment({ TOKEN: ' t0ken\n', SECRET: 's3cret', BLANK: '  ' });
const server = (more: Partial<McpServerSettings>): McpServerSettings =>
  ({
    ...{ token_env: '', oauth_client_id: '', oauth_client_secret_env: '', oauth_issuer: '', oauth_scope: '' },
    ...more,
  }) as McpServerSettings;
const hidden: string[] = [];
const hide = (token: string): void => void hidden.push(token);
const oauth = {
  oauth_client_id: 'gateway',
  oauth_issuer: 'https://login.test',
  oauth_client_secret_env: 'SECRET',
};

test('a server without a variable is called without credentials', () => {
  expect(credentialsOf(server({}), environment, hide)).toBeUndefined();
});

test('the token is the value of the variable, trimmed', async () => {
  const credentials = credentialsOf(server({ token_env: 'TOKEN' }), environment, hide);
  await expect((credentials as AuthProvider).token()).resolves.toBe('t0ken');
});

test.each(['files:read', ''])(
  'a client asks for a token with its secret and the scope "%s"',
  async (scope) => {
    const credentials = credentialsOf(server({ ...oauth, oauth_scope: scope }), environment, hide);
    expect(credentials).toMatchObject({
      clientMetadata: { scope: scope === '' ? undefined : scope },
    });
  },
);

test('a token that the client is given is hidden before it is used', () => {
  const credentials = credentialsOf(server(oauth), environment, hide) as ClientCredentialsProvider;
  credentials.saveTokens({ access_token: 't0ken of the client', token_type: 'Bearer' });
  expect([hidden, credentials.tokens()?.access_token]).toEqual([
    ['t0ken of the client'],
    't0ken of the client',
  ]);
});

test.each<[string, Partial<McpServerSettings>, string]>([
  ['is not set', { token_env: 'ABSENT' }, 'The variable ABSENT is not set.'],
  ['is blank', { token_env: 'BLANK' }, 'The variable BLANK is not set.'],
  ['has no name', { ...oauth, oauth_client_secret_env: '' }, 'The variable (none named) is not set.'],
])('an error names a variable that %s', (_what, more, sentence) => {
  expect(() => credentialsOf(server(more), environment, hide)).toThrow(sentence);
});

test('the secrets are the values of the variables that are set', () => {
  const servers = [server({ token_env: 'TOKEN' }), server(oauth), server({ token_env: 'ABSENT' })];
  expect(secretsInEnvironment(servers, environment)).toEqual(['t0ken', 's3cret']);
});
