import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  AuthProvider,
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
} from '@modelcontextprotocol/client';
import { jwtVerify } from 'jose';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { credentialsOf, secretsInEnvironment } from './credentials.js';

const environment = new Environment({ TOKEN: ' t0ken\n', SECRET: 's3cret', BLANK: '  ' });
const server = (more: Partial<McpServerSettings>): McpServerSettings =>
  ({
    ...{ token_env: '', oauth_client_id: '', oauth_client_secret_env: '', oauth_issuer: '', oauth_scope: '' },
    ...{ oauth_private_key_file: '', oauth_workload_token_file: '', idp_client_secret_env: '' },
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

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp('/tmp/agw-key-');
});
afterAll(() => rm(folder, { recursive: true }));

async function keyed(key: string): Promise<McpServerSettings> {
  const file = join(folder, 'key.pem');
  await writeFile(file, key);
  return server({ ...oauth, oauth_client_secret_env: '', oauth_private_key_file: file });
}
const pem = ({ privateKey }: { privateKey: KeyObject }): string =>
  String(privateKey.export({ type: 'pkcs8', format: 'pem' }));

test.each<[string, string, string]>([
  ['RSA', pem(generateKeyPairSync('rsa', { modulusLength: 2048 })), 'RS256'],
  ['P-256', pem(generateKeyPairSync('ec', { namedCurve: 'P-256' })), 'ES256'],
  ['P-384', pem(generateKeyPairSync('ec', { namedCurve: 'P-384' })), 'ES384'],
  ['Ed25519', pem(generateKeyPairSync('ed25519')), 'EdDSA'],
])('a client proves itself with a key of %s', async (_kind, key, alg) => {
  const provider = credentialsOf(await keyed(key), environment, hide) as PrivateKeyJwtProvider;
  const params = new URLSearchParams();
  await provider.addClientAuthentication(new Headers(), params, 'https://login.test/token', {
    issuer: 'https://login.test',
  } as never);
  const { payload, protectedHeader } = await jwtVerify(
    params.get('client_assertion') ?? '',
    createPublicKey(key),
  );
  provider.saveTokens({ access_token: `token of ${alg}`, token_type: 'Bearer' });
  expect(hidden).toContain(`token of ${alg}`);
  expect([protectedHeader.alg, payload.iss, payload.sub, payload.aud]).toEqual([
    alg,
    'gateway',
    'gateway',
    'https://login.test',
  ]);
});

test.each([
  ['no key', 'hunter2', 'holds no private key as PEM (PKCS #8'],
  ['a curve that nobody signs with', pem(generateKeyPairSync('x25519')), 'is none of RSA, P-256'],
])('a file with %s is named', async (_what, key, sentence) => {
  const settings = await keyed(key);
  expect(() => credentialsOf(settings, environment, hide)).toThrow(sentence);
});

test('a file that is not there is named', () => {
  const settings = server({ ...oauth, oauth_private_key_file: '/nowhere/key.pem' });
  expect(() => credentialsOf(settings, environment, hide)).toThrow(/cannot be read: .*\/nowhere\/key\.pem/);
});

test.each<[string, Partial<McpServerSettings>, string]>([
  ['is not set', { token_env: 'ABSENT' }, 'The variable ABSENT is not set.'],
  ['is blank', { token_env: 'BLANK' }, 'The variable BLANK is not set.'],
  ['has no name', { ...oauth, oauth_client_secret_env: '' }, 'The variable (none named) is not set.'],
])('an error names a variable that %s', (_what, more, sentence) => {
  expect(() => credentialsOf(server(more), environment, hide)).toThrow(sentence);
});

test('with the token of the platform nothing is asked of the library', () => {
  const settings = server({ ...oauth, oauth_client_secret_env: '', oauth_workload_token_file: '/run/token' });
  expect(credentialsOf(settings, environment, hide)).toBeUndefined();
});

test('the secrets are the values of the variables that are set', () => {
  const servers = [server({ token_env: 'TOKEN' }), server(oauth), server({ token_env: 'ABSENT' })];
  expect(secretsInEnvironment(servers, environment)).toEqual(['t0ken', 's3cret']);
});
