// An identity provider that others wrote, in a separate process (these are ES modules, and Jest runs CommonJS), with
// `openid-client` as the client that gets tokens from it. Arguments: `oidc-provider` or `oauth2-mock-server`, and a
// port.
// Sends { url } when it is ready, and answers a message { grant, groups, sub } with { token } or { error }.
import { inspect } from 'node:util';
import { OAuth2Server } from 'oauth2-mock-server';
import Provider from 'oidc-provider';
import * as oidc from 'openid-client';

const [kind = '', port = ''] = process.argv.slice(2);
const url = `http://127.0.0.1:${port}`;
const AUDIENCE = 'agent-gateway';
const BACK = 'http://127.0.0.1/back';
/** The claims of the next token. */
let claims = {};

process.once('disconnect', () => process.exit(0));

async function serveProvider() {
  const resourceServer = {
    ...{ scope: 'api', audience: AUDIENCE, accessTokenFormat: 'jwt', accessTokenTTL: 300 },
    jwt: { sign: { alg: 'RS256' } },
  };
  const provider = new Provider(url, {
    clients: [
      {
        ...{
          client_id: 'worker',
          client_secret: 'secret-of-the-worker',
          grant_types: ['client_credentials'],
        },
        ...{ redirect_uris: [], response_types: [] },
      },
    ],
    scopes: ['api'],
    extraTokenClaims: () => claims,
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:agent-gateway',
        getResourceServerInfo: () => resourceServer,
        useGrantedResource: () => true,
      },
    },
  });
  await new Promise((resolve) => provider.listen(Number(port), '127.0.0.1', resolve));
}

async function serveMock() {
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  server.service.on('beforeTokenSigning', ({ payload }) => {
    // An ID token is for the client that asked for it; an access token is for the gateway.
    Object.assign(payload, { aud: payload.aud ?? AUDIENCE }, claims);
  });
  await server.start(Number(port), '127.0.0.1');
  server.issuer.url = url;
}

function configuration() {
  return oidc.discovery(new URL(url), 'worker', 'secret-of-the-worker', undefined, {
    execute: [oidc.allowInsecureRequests],
  });
}

/** A service on its own behalf. */
async function byCredentials() {
  const parameters = { scope: 'api', resource: 'urn:agent-gateway' };
  return (await oidc.clientCredentialsGrant(await configuration(), parameters)).access_token;
}

/** A person in a browser: authorization code with PKCE. The issuer shows no page and redirects at once. */
async function byCode() {
  const config = await configuration();
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const page = oidc.buildAuthorizationUrl(config, {
    ...{ redirect_uri: BACK, scope: 'openid', state, code_challenge_method: 'S256' },
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
  });
  const { headers } = await fetch(page, { redirect: 'manual' });
  const back = new URL(headers.get('location'));
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  return (await oidc.authorizationCodeGrant(config, back, checks)).access_token;
}

process.on('message', async ({ grant, ...wanted }) => {
  claims = wanted;
  try {
    process.send({ token: await (grant === 'code' ? byCode() : byCredentials()) });
  } catch (error) {
    process.send({ error: inspect(error) });
  }
});

await (kind === 'oidc-provider' ? serveProvider() : serveMock());
process.send({ url });
