import type { AuthProvider } from '@modelcontextprotocol/client';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { credentialsOf, secretsInEnvironment } from './credentials.js';

const environment = new Environment({ TOKEN: ' t0ken\n', SECRET: 's3cret', BLANK: '  ' });
const server = (more: Partial<McpServerSettings>): McpServerSettings =>
  ({
    ...{ token_env: '', oauth_client_id: '', oauth_client_secret_env: '', oauth_issuer: '', oauth_scope: '' },
    ...more,
  }) as McpServerSettings;
const oauth = {
  oauth_client_id: 'gateway',
  oauth_issuer: 'https://login.test',
  oauth_client_secret_env: 'SECRET',
};

test('a server without a variable is called without credentials', () => {
  expect(credentialsOf(server({}), environment)).toBeUndefined();
});

test('the token is the value of the variable, trimmed', async () => {
  const credentials = credentialsOf(server({ token_env: 'TOKEN' }), environment);
  await expect((credentials as AuthProvider).token()).resolves.toBe('t0ken');
});

test.each(['files:read', ''])(
  'a client asks for a token with its secret and the scope "%s"',
  async (scope) => {
    const credentials = credentialsOf(server({ ...oauth, oauth_scope: scope }), environment);
    expect(credentials).toMatchObject({
      clientMetadata: { scope: scope === '' ? undefined : scope },
    });
  },
);

test.each<[string, Partial<McpServerSettings>, string]>([
  ['is not set', { token_env: 'ABSENT' }, 'The variable ABSENT is not set.'],
  ['is blank', { token_env: 'BLANK' }, 'The variable BLANK is not set.'],
  ['has no name', { ...oauth, oauth_client_secret_env: '' }, 'The variable (none named) is not set.'],
])('an error names a variable that %s', (_what, more, sentence) => {
  expect(() => credentialsOf(server(more), environment)).toThrow(sentence);
});

test('the secrets are the values of the variables that are set', () => {
  const servers = [server({ token_env: 'TOKEN' }), server(oauth), server({ token_env: 'ABSENT' })];
  expect(secretsInEnvironment(servers, environment)).toEqual(['t0ken', 's3cret']);
});
