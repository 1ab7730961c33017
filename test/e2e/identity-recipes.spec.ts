import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { configEnv, removeConfigs, signingKey, TestIssuer } from '../harness/identity.js';

jest.setTimeout(120_000);

const PATHS = {
  keycloak: '/realms/acme',
  entra: '/9122040d-6c67-4c5b-b112-36a304b66dad/v2.0',
  okta: '/oauth2/default',
  kubernetes: '',
} as const;
type System = keyof typeof PATHS;

/** The token of the gateway's service account, which the API server requires. */
const TOKEN_FILE = join(tmpdir(), `agw-service-account-${process.pid}`);
const ENTRA_CLIENT = 'bb8ce3a5-4a5d-4f1a-9f0e-0a1f5b6d7c8e';
/** As in docs/identity.md, with the test's issuer. */
const RECIPES: Readonly<Record<System, (issuer: TestIssuer) => string>> = {
  keycloak: ({ url }) => `
[auth.jwt.keycloak]
issuer = "${url}"
audience = "agent-gateway"
roles_claim = "realm_access.roles"
[auth.jwt.keycloak.roles]
"gateway-admin" = { preset = "admin" }
"gateway-user" = { scopes = ["sessions:read", "sessions:write"], bound = true }
`,
  entra: ({ url }) => `
[auth.jwt.entra]
issuer = "${url}"
audience = "${ENTRA_CLIENT}"
user_claim = "oid"
roles_claim = "roles"
[auth.jwt.entra.roles]
"Gateway.Admin" = { preset = "admin" }
"Gateway.Chat" = { scopes = ["sessions:read", "sessions:write"], bound = true }
`,
  okta: ({ url }) => `
[auth.jwt.okta]
issuer = "${url}"
audience = "api://agent-gateway"
user_claim = "uid"
roles_claim = "groups"
[auth.jwt.okta.roles]
"GatewayAdmins" = { preset = "admin" }
"Everyone" = { scopes = ["sessions:read", "sessions:write"], bound = true }
`,
  kubernetes: ({ url }) => `
[auth.jwt.kubernetes]
issuer = "${url}"
jwks_url = "${url}/openid/v1/jwks"
audience = "agent-gateway"
jwks_token_file = "${TOKEN_FILE}"
roles_claim = "sub"
[auth.jwt.kubernetes.roles]
"system:serviceaccount:shop:orders" = { scopes = ["sessions:read", "sessions:write"], bound = true }
`,
};

/** The claims that each system sends, besides issuer and times. */
const SENT: Readonly<Record<System, { user: string; claims: object; header: object }>> = {
  keycloak: {
    user: 'f3b1c2d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d',
    header: { typ: 'JWT' },
    claims: {
      jti: 'onrtac:7f0c2b1e-2a54-4d58-93a7-d7a6c2b7a2f1',
      aud: ['agent-gateway', 'account'],
      sub: 'f3b1c2d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d',
      typ: 'Bearer',
      azp: 'portal',
      sid: 'a3c8e2b0-0c33-4a2c-8d4c-1b5f2a7e6d11',
      acr: '1',
      'allowed-origins': ['https://portal.example.com'],
      realm_access: { roles: ['offline_access', 'gateway-user', 'uma_authorization'] },
      resource_access: { account: { roles: ['manage-account', 'view-profile'] } },
      scope: 'openid email profile',
      email_verified: true,
      preferred_username: 'ada',
      email: 'ada@example.com',
      groups: undefined,
    },
  },
  entra: {
    user: '6a5b4c3d-2e1f-4a0b-9c8d-7e6f5a4b3c2d',
    header: { typ: 'JWT', x5t: 'L1KfKFI_jnXbwWc22xZxw1sUHH0' },
    claims: {
      aud: ENTRA_CLIENT,
      nbf: Math.floor(Date.now() / 1000) - 5,
      aio: 'AWQAm/8XAAAA',
      azp: '04b07795-8ddb-461a-bbee-02f9e1bf7b46',
      azpacr: '0',
      name: 'Ada Lovelace',
      oid: '6a5b4c3d-2e1f-4a0b-9c8d-7e6f5a4b3c2d',
      preferred_username: 'ada@example.com',
      rh: '1.AXkA',
      roles: ['Gateway.Chat'],
      scp: 'access_as_user',
      sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
      tid: '9122040d-6c67-4c5b-b112-36a304b66dad',
      uti: 'bZ0V1m5g2k-abc',
      ver: '2.0',
      groups: undefined,
    },
  },
  okta: {
    user: '00u1a2b3c4D5e6F7g8h9',
    header: { typ: undefined },
    claims: {
      ver: 1,
      jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE',
      aud: 'api://agent-gateway',
      cid: '0oa1a2b3c4D5e6F7g8h9',
      uid: '00u1a2b3c4D5e6F7g8h9',
      scp: ['openid', 'gateway'],
      auth_time: Math.floor(Date.now() / 1000) - 60,
      sub: 'ada@example.com',
      groups: ['Everyone'],
    },
  },
  kubernetes: {
    user: 'system:serviceaccount:shop:orders',
    header: { typ: undefined },
    claims: {
      aud: ['agent-gateway'],
      jti: '2f1c4a3b-7c9d-4e5f-8a6b-1c2d3e4f5a6b',
      'kubernetes.io': {
        namespace: 'shop',
        node: { name: 'node-1', uid: '8d5c8c2b-3e1f-4a6b-9c7d-5e4f3a2b1c0d' },
        pod: { name: 'orders-5f7d8c9b6-x2v4z', uid: '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d' },
        serviceaccount: { name: 'orders', uid: '9f8e7d6c-5b4a-4392-8170-6f5e4d3c2b1a' },
      },
      nbf: Math.floor(Date.now() / 1000) - 5,
      sub: 'system:serviceaccount:shop:orders',
      groups: undefined,
    },
  },
};

const SYSTEMS = Object.keys(PATHS) as System[];
const issuers = new Map<System, TestIssuer>();
let gateway: TestGateway;

beforeAll(async () => {
  await writeFile(TOKEN_FILE, 'of-the-gateway\n');
  for (const system of SYSTEMS) {
    const issuer = await TestIssuer.open(PATHS[system]);
    issuer.keys = [await signingKey(`${system}-key`)];
    if (system === 'kubernetes') issuer.bearer = 'of-the-gateway';
    issuers.set(system, issuer);
  }
  const toml = SYSTEMS.map((system) => RECIPES[system](issuers.get(system) as TestIssuer)).join('\n');
  gateway = await startTestGateway({ env: await configEnv(toml) });
});
afterAll(async () => {
  await gateway.stop();
  for (const issuer of issuers.values()) await issuer.close();
  await removeConfigs();
  await rm(TOKEN_FILE);
});

test.each(SYSTEMS)('a token as %s sends it opens a session of issuer|subject', async (system) => {
  const issuer = issuers.get(system) as TestIssuer;
  const { user, claims, header } = SENT[system];
  const caller = gateway.caller('b', await issuer.sign({ ...claims }, { header }));
  const made = await caller.post<{ id: string }>('/sessions', {});
  expect(made.status).toBe(201);
  const shown = await gateway.b.get<{ user_id: string }>(`/sessions/${made.body.id}`);
  expect(shown.body.user_id).toBe(`${issuer.url}|${user}`);
  expect((await caller.get('/config')).status).toBe(403);
});
