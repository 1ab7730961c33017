import { validateLayers } from '../settings-validation.js';

const problemsOf = (server: Record<string, unknown>, more: Record<string, unknown> = {}): string[] => {
  const tree = {
    mcp: { servers: { desk: { transport: 'http', url: 'https://desk.test/mcp', ...server } } },
    ...more,
  };
  const layer = { name: 'file' as const, tree, whereIs: () => 'gateway.toml:1' };
  return validateLayers([layer]).problems.map(({ key, message }) => `${key}: ${message}`);
};
const auth = {
  auth: { jwt: { corp: { issuer: 'https://idp.test', audience: 'agents', roles: {} } } },
};
const publicUrl = { gateway: { public_url: 'https://agents.test' } };
const workload = { oauth_workload_token_file: '/run/token', oauth_issuer: 'https://login.test' };
const crossApp = {
  ...{ identity: 'cross_app', oauth_issuer: 'https://login.test', oauth_client_id: 'gateway' },
  ...{ oauth_client_secret_env: 'DESK', idp_issuer: 'https://idp.test', idp_client_id: 'agents' },
};

test('each way stands by itself, and the token of the platform beside an assertion', () => {
  expect(problemsOf(workload)).toEqual([]);
  expect(problemsOf({ ...workload, oauth_client_id: 'gateway', identity: 'assertion' })).toEqual([]);
  expect(problemsOf(crossApp, auth)).toEqual([]);
  expect(problemsOf({ ...crossApp, idp_token_file: '/run/account' }, auth)).toEqual([]);
  const bound = { oauth_dpop: 'always' };
  for (const server of [workload, crossApp, { oauth_sign_in: true }])
    expect(problemsOf({ ...server, ...bound }, { ...auth, ...publicUrl })).toEqual([]);
  expect(problemsOf({ ...workload, ...bound, identity: 'assertion', identity_header: 'X-User' })).toEqual([]);
});

const alone = 'the token of the platform is used alone';
test.each<[Record<string, unknown>, string]>([
  [{ ...workload, oauth_issuer: '' }, 'needs the oauth_issuer that takes its token'],
  [{ ...workload, token_env: 'TOKEN' }, alone],
  [{ ...workload, oauth_client_id: 'gateway', oauth_client_secret_env: 'SECRET' }, alone],
  [{ ...workload, oauth_client_id: 'gateway', oauth_private_key_file: '/run/key' }, alone],
  [{ ...workload, oauth_client_id: 'gateway', identity: 'exchange' }, alone],
  [{ ...workload, oauth_sign_in: true }, alone],
  [{ ...crossApp, ...workload, oauth_client_secret_env: '' }, alone],
  [{ ...crossApp, idp_issuer: '' }, 'needs the idp_issuer that knows the people'],
  [{ ...crossApp, idp_issuer: 'https://other.test' }, 'is no issuer of [auth.jwt]'],
  [{ ...crossApp, idp_client_id: '' }, 'needs the idp_client_id'],
  [{ ...crossApp, oauth_client_id: '' }, 'needs the client for which the oauth_issuer takes'],
  [
    { ...crossApp, oauth_client_secret_env: '', oauth_private_key_file: '/run/key' },
    'a key is not used there',
  ],
  [{ oauth_dpop: 'always' }, 'is for servers whose tokens an authorization server gives'],
  [{ oauth_dpop: 'always', token_env: 'TOKEN' }, 'is for servers whose tokens an authorization server gives'],
  [{ ...crossApp, oauth_dpop: 'always', identity_header: 'X-User' }, 'leave out identity_header'],
  [{ oauth_dpop: 'sometimes' }, 'always'],
  [{ idp_token_file: '/run/account' }, 'go with identity = "cross_app"'],
])('%j is refused', (server, problem) => {
  expect(problemsOf(server, auth)).toContainEqual(expect.stringContaining(problem));
});
