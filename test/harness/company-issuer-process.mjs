// A company's identity provider, made with oidc-provider. It exchanges ID tokens that it has signed for ID-JAGs (RFC
// 8693).
// Arguments: its port, and a JSON file with its signing key (private JWK) and `allowed`, the resources that people
// may use. Writes a line for each exchange: subject, result.
import { readFileSync } from 'node:fs';
import { createLocalJWKSet, importJWK, jwtVerify, SignJWT } from 'jose';
import Provider, { errors } from 'oidc-provider';

const [port = '', file = ''] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const { key } = JSON.parse(readFileSync(file, 'utf8'));
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TYPE = 'urn:ietf:params:oauth:token-type:';

const provider = new Provider(issuer, {
  clients: [
    {
      ...{ client_id: 'agents', client_secret: 'secret-of-the-agents' },
      ...{ grant_types: [GRANT], redirect_uris: [], response_types: [] },
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  clientAuthMethods: ['client_secret_post'],
  jwks: { keys: [key] },
  features: { devInteractions: { enabled: false } },
});

function refusal(text, Kind = errors.InvalidGrant) {
  const error = new Kind('refused');
  error.error_description = text;
  return error;
}

async function exchange(context) {
  const { client, params } = context.oidc;
  if (params.subject_token_type !== `${TYPE}id_token` || params.requested_token_type !== `${TYPE}id-jag`)
    throw refusal('only ID tokens become ID-JAGs here');
  const { kty, n, e, kid, alg } = key;
  const keys = createLocalJWKSet({ keys: [{ kty, n, e, kid, alg }] });
  const { payload } = await jwtVerify(params.subject_token, keys, {
    issuer,
    audience: client.clientId,
  }).catch((error) => {
    throw refusal(String(error));
  });
  const { allowed } = JSON.parse(readFileSync(file, 'utf8'));
  const isAllowed = allowed.includes(params.resource) && payload.sub !== 'trudy';
  process.stdout.write(`${payload.sub} ${isAllowed ? 'granted' : 'refused'}\n`);
  if (!isAllowed) throw refusal('this person may not use that server', errors.AccessDenied);
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    ...{
      iss: issuer,
      sub: payload.sub,
      aud: params.audience,
      resource: params.resource,
      client_id: 'gateway',
    },
    ...{ jti: crypto.randomUUID(), iat: now, exp: now + 60 },
  };
  const jag = await new SignJWT(claims)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'oauth-id-jag+jwt' })
    .sign(await importJWK(key));
  context.body = { issued_token_type: `${TYPE}id-jag`, access_token: jag, token_type: 'N_A', expires_in: 60 };
}

const taken = [
  'subject_token',
  'subject_token_type',
  'requested_token_type',
  'audience',
  'resource',
  'scope',
];
provider.registerGrantType(GRANT, exchange, taken, ['resource']);
provider.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
