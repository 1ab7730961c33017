// An authorization server, made with oidc-provider, that issues access tokens for JWTs of trusted issuers (RFC 7523).
// Arguments: its port, and a JSON file with the URL of the keys by issuer. Writes a line for each grant: issuer,
// subject, result.
// A workload sends no client secret. Whoever presents an ID-JAG of the company's identity provider (typ
// oauth-id-jag+jwt) must be the client "gateway", with its secret, and the ID-JAG must be for that client and a
// resource.
import { readFileSync } from 'node:fs';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import Provider, { errors } from 'oidc-provider';
import { checkDpopReplay, validateDpop } from 'oidc-provider/lib/helpers/grants.js';

const [port = '', trustedFile = ''] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_JAG = 'oauth-id-jag+jwt';
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
    {
      ...{ client_id: 'workload', token_endpoint_auth_method: 'none' },
      ...{ grant_types: [GRANT], redirect_uris: [], response_types: [] },
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

function refusal(text) {
  const error = new errors.InvalidGrant('refused');
  error.error_description = text;
  return error;
}

/** The claims of a valid assertion. */
async function verified(assertion, client) {
  const { iss = '' } = decodeJwt(assertion);
  const trusted = JSON.parse(readFileSync(trustedFile, 'utf8'))[iss];
  if (trusted === undefined) throw refusal(`${iss} is not trusted here`);
  const isJag = decodeProtectedHeader(assertion).typ === ID_JAG;
  const keys = createRemoteJWKSet(new URL(trusted));
  const { payload } = await jwtVerify(assertion, keys, { issuer: iss, audience: issuer }).catch((error) => {
    throw refusal(String(error));
  });
  if (isJag && payload.client_id !== client) throw refusal('the ID-JAG is for another client');
  if (!isJag && client !== 'workload') throw refusal('this client has to bring an ID-JAG');
  return payload;
}

async function grant(context) {
  const { client, params } = context.oidc;
  const { iss, sub, resource = params.resource } = await verified(params.assertion, client.clientId);
  const isRefused = sub === 'mallory' || sub.endsWith(':banned');
  process.stdout.write(`${iss} ${sub} ${isRefused ? 'refused' : 'granted'}\n`);
  if (isRefused) throw refusal('nobody of this name works here');
  const token = new provider.AccessToken({ accountId: sub, client, gty: 'jwt_bearer', scope: 'tools' });
  token.resourceServer = new provider.ResourceServer(resource, resourceServer(resource));
  const proof = await validateDpop(provider, context);
  await checkDpopReplay(provider, context, proof, client.clientId);
  if (proof) token.setThumbprint('jkt', proof.thumbprint);
  const value = await token.save();
  context.body = { access_token: value, token_type: proof ? 'DPoP' : 'Bearer', expires_in: TOKEN_TTL };
}

provider.registerGrantType(GRANT, grant, ['assertion', 'resource', 'scope'], ['resource']);
provider.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
