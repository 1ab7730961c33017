// An authorization server, made with oidc-provider, at which people sign in with a browser. It registers clients,
// requires PKCE and rotates refresh tokens. Everyone is let in at once, as the person named. Arguments: its port, the
// person, and how many seconds an access token lives; then how it binds tokens to keys (DPoP): on, off, with nonce
// (its metadata is then only that of OpenID Connect), or denied (it binds them, but says in its responses that it did
// not). The client "gateway" has a secret and signs in for itself; "public" has none, and people use it to sign in to
// the server of that name. Writes a line for each thing that happens.
import Provider from 'oidc-provider';

const [port = '', person = '', seconds = '60', dpop = 'on'] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const say = (line) => process.stdout.write(`${line}\n`);
const SCOPES = ['tools', 'admin', 'more'];

const provider = new Provider(issuer, {
  clients: [
    {
      ...{ client_id: 'gateway', client_secret: 'secret-of-the-gateway' },
      ...{ grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
    },
    {
      ...{ client_id: 'public', token_endpoint_auth_method: 'none', response_types: ['code'] },
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['https://agents.example.com/admin/v1/mcp/sign-in/public/callback'],
    },
  ],
  scopes: ['openid', 'offline_access', ...SCOPES],
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  ttl: { AccessToken: Number(seconds), RefreshToken: 600, Grant: 600, Session: 600, Interaction: 60 },
  extraTokenClaims: (_context, token) => ({ rights: token.scope }),
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    dPoP: {
      enabled: dpop !== 'off',
      nonceSecret: Buffer.alloc(32, 7),
      requireNonce: () => dpop === 'with nonce',
    },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, resource) => ({
        ...{ scope: SCOPES.join(' '), audience: resource, accessTokenFormat: 'jwt' },
        accessTokenTTL: Number(seconds),
        jwt: { sign: { alg: 'RS256' } },
      }),
      useGrantedResource: () => true,
    },
  },
});

let isBroken = false;
process.on('SIGUSR2', () => {
  isBroken = !isBroken;
  say(isBroken ? 'broken' : 'mended');
});
provider.use(async (context, next) => {
  if (isBroken) context.throw(503, 'out of order');
  if (dpop === 'with nonce' && context.path === '/.well-known/oauth-authorization-server')
    context.throw(404, 'only as OpenID Connect has it');
  if (context.path === '/token') {
    await next();
    if (dpop === 'denied' && context.status === 200) context.body.token_type = 'Bearer';
    return;
  }
  if (!context.path.startsWith('/interaction/')) return next();
  const { prompt, params, session } = await provider.interactionDetails(context.req, context.res);
  let result = { login: { accountId: person } };
  if (prompt.name === 'consent') {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope ?? '');
    grant.addResourceScope(params.resource, params.scope ?? '');
    result = { consent: { grantId: await grant.save() } };
  }
  return provider.interactionFinished(context.req, context.res, result, { mergeWithLastSubmission: true });
});
provider.on('grant.success', ({ oidc }) => say(`granted ${oidc.params.grant_type}`));
provider.on('grant.error', (_context, error) => say(`refused ${error.message} ${error.error_detail ?? ''}`));
provider.on('registration_create.success', (_context, client) => say(`registered ${client.clientName}`));
provider.on('authorization.error', (_context, error) =>
  say(`no page ${error.message} ${error.error_description}`),
);
provider.on('server_error', (_context, error) => say(`broken ${error.stack}`));
provider.on('refresh_token.destroyed', () => say('destroyed refresh_token'));
provider.listen(Number(port), '127.0.0.1', () => say('ready'));
