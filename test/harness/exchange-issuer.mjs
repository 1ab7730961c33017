// An authorization server, made with oidc-provider, that exchanges the gateway's assertions for tokens of users (RFC
// 8693).
// Arguments: its port, and a file that will hold the URL of the gateway's keys. Writes a line for each exchange.
import { readFileSync } from 'node:fs';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import Provider, { errors } from 'oidc-provider';
import { checkDpopReplay, validateDpop } from 'oidc-provider/lib/helpers/grants.js';

const [port = '', keysFile = ''] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TOKEN_TTL = 5;

const resourceServer = (audience) => ({
  ...{ scope: 'tools', audience, accessTokenFormat: 'jwt', accessTokenTTL: TOKEN_TTL },
  jwt: { sign: { alg: 'RS256' } },
});

const provider = new Provider(issuer, {
  clients: [
    {
      ...{ client_id: 'gateway', client_secret: 'secret-of-the-gateway' },
      ...{ grant_types: ['client_credentials', GRANT], redirect_uris: [], response_types: [] },
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  scopes: ['tools'],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, resource) => resourceServer(resource),
      useGrantedResource: () => true,
    },
  },
});

async function exchange(context) {
  const { client, params } = context.oidc;
  const keys = createRemoteJWKSet(new URL(readFileSync(keysFile, 'utf8')));
  const checks = { issuer: 'agent-gateway', audience: issuer, algorithms: ['EdDSA'], maxTokenAge: 65 };
  const { payload } = await jwtVerify(params.subject_token, keys, checks).catch((error) => {
    throw new errors.InvalidGrant(String(error));
  });
  process.stdout.write(`${payload.sub}\n`);
  const error = new errors.InvalidGrant('refused');
  error.error_description = 'this person has left the company';
  if (payload.sub === 'mallory') throw error;
  const token = new provider.AccessToken({
    accountId: payload.sub,
    client,
    gty: 'token_exchange',
    scope: 'tools',
  });
  token.resourceServer = new provider.ResourceServer(params.resource, resourceServer(params.resource));
  const proof = await validateDpop(provider, context);
  await checkDpopReplay(provider, context, proof, client.clientId);
  if (proof) token.setThumbprint('jkt', proof.thumbprint);
  context.body = {
    access_token: await token.save(),
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: proof ? 'DPoP' : 'Bearer',
    expires_in: TOKEN_TTL,
  };
}

const taken = ['subject_token', 'subject_token_type', 'requested_token_type', 'resource', 'scope'];
provider.registerGrantType(GRANT, exchange, taken, ['resource']);
provider.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
