import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { sealIdentityToken } from '../../../platform/identity/identity-token.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { REDACTED } from '../../../platform/logging/secret-finder.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { Environment } from '../../../platform/settings/environment.js';
import type { McpServerSettings } from '../../../platform/settings/sections/mcp.section.js';
import { type AuthorizationServers, type TokenRequest, tokenIn } from './authorization-servers.js';
import { CrossAppTokens } from './cross-app-tokens.js';

const IDP = 'https://idp.test';
const { privateKey } = generateKeyPairSync('ed25519');
const idToken = (sub: string, exp = '5 minutes') =>
  new SignJWT({ sub })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setIssuer(IDP)
    .setExpirationTime(exp)
    .sign(privateKey);
const server = {
  ...{ url: 'https://desk.test/mcp', oauth_issuer: 'https://login.test', oauth_client_id: 'gateway' },
  ...{ oauth_client_secret_env: 'DESK', oauth_scope: 'tools', idp_issuer: IDP, idp_client_id: 'agents' },
  ...{ idp_client_secret_env: '', idp_token_type: 'id_token', idp_token_file: '' },
} as McpServerSettings;

const box = new SecretBox(randomBytes(32));
const redactor = new Redactor();
let asked: TokenRequest[];
let tokens: CrossAppTokens;
let type: string;
beforeEach(() => {
  asked = [];
  type = 'urn:ietf:params:oauth:token-type:id-jag';
  const answerTo = (request: TokenRequest) => {
    asked.push(request);
    const token = `${request.issuer === IDP ? 'jag' : 'access'}-token-${asked.length}`;
    return Promise.resolve({ access_token: token, issued_token_type: type });
  };
  const tokenFor = async (_server: McpServerSettings, request: TokenRequest) =>
    tokenIn(await answerTo(request), request.issuer);
  const issuers = { answerTo, tokenFor } as unknown as AuthorizationServers;
  tokens = new CrossAppTokens(issuers, new Environment({ DESK: 's3cret' }), box, redactor);
});

const originOf = (user: string, token: string, sealedFor = user) => ({
  ...{ user, identityToken: sealIdentityToken(box, sealedFor, token) },
});

test('the token of the person buys an ID-JAG, and that an access token, which is kept for them', async () => {
  const token = await idToken('ada');
  const ada = originOf(`${IDP}|ada`, token);
  expect(await tokens.tokenOf(server, ada)).toEqual({ token: 'access-token-2', isKept: false });
  expect(await tokens.tokenOf(server, ada)).toEqual({ token: 'access-token-2', isKept: true });
  expect(asked.map(({ issuer, client, form }) => ({ issuer, client, form }))).toEqual([
    {
      issuer: IDP,
      client: { id: 'agents' },
      form: {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
        requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
        ...{ audience: 'https://login.test', resource: 'https://desk.test/mcp', scope: 'tools' },
      },
    },
    {
      issuer: 'https://login.test',
      client: { id: 'gateway', secret: 's3cret' },
      form: {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        ...{ assertion: 'jag-token-1', scope: 'tools' },
      },
    },
  ]);
  expect(redactor.redact('access-token-2')).toBe(REDACTED);
});

test('another person gets another token, and whoever names one without their token gets none', async () => {
  await tokens.tokenOf(server, originOf(`${IDP}|ada`, await idToken('ada')));
  const bob = await tokens.tokenOf(server, originOf(`${IDP}|bob`, await idToken('bob')));
  expect(bob).toEqual({ token: 'access-token-4', isKept: false });
  await expect(tokens.tokenOf(server, { user: `${IDP}|ada` })).rejects.toThrow(
    'the message came without one',
  );
});

test.each<[string, () => Promise<{ user: string; identityToken: string }>, string]>([
  ['has ended', async () => originOf(`${IDP}|ada`, await idToken('ada', '-1 minute')), 'has ended'],
  ['is of another issuer', async () => originOf('https://x.test|ada', await idToken('ada')), 'somebody else'],
  [
    'was sealed for another person',
    async () => originOf(`${IDP}|ada`, await idToken('bob'), `${IDP}|bob`),
    'They send another message',
  ],
])('a token that %s is sent nowhere', async (_what, origin, reason) => {
  await expect(tokens.tokenOf(server, await origin())).rejects.toThrow(reason);
  expect(asked).toEqual([]);
});

test('an identity provider that gives something else than an ID-JAG is named, and it is sent nowhere', async () => {
  type = 'urn:ietf:params:oauth:token-type:access_token';
  const ada = originOf(`${IDP}|ada`, await idToken('ada'));
  await expect(tokens.tokenOf(server, ada)).rejects.toThrow(
    `${IDP} answered the exchange with something else`,
  );
  expect(asked).toHaveLength(1);
});
