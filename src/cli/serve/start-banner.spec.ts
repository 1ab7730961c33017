import { readEnvironment } from '../../platform/settings/environment.js';
import { loadSettings } from '../../platform/settings/settings-loader.js';
import type { ApiToken } from '../../platform/tokens/api-token.js';
import { startBanner } from './start-banner.js';

const provider = { kind: 'offline', model: 'offline', why: 'no key is set' } as const;
const token: ApiToken = {
  id: 'tok_1',
  familyId: 'tok_1',
  maker: null,
  agents: null,
  bootstrapAt: null,
  name: 'admin',
  scopes: ['*'],
  boundUserId: null,
  createdAt: new Date('2026-01-01T00:00:00Z'),
  expiresAt: new Date('2026-04-01T00:00:00Z'),
  lastUsedAt: null,
  revokedAt: null,
};

function banner(
  variables: Record<string, string>,
  facts: {
    firstToken?: { secret: string; token: ApiToken };
    signInCode?: string;
    ports?: object;
    embedded?: boolean;
  } = {},
): string {
  const environment = readEnvironment(variables);
  const loaded = loadSettings({ environment });
  const ports = facts.ports ?? { a: 16_830, b: 3120, operations: 9464 };
  const { firstToken, signInCode, embedded = true } = facts;
  return startBanner({ environment, loaded, gateway: { provider, ports, firstToken, signInCode, embedded } });
}

test('a first start shows the addresses, the token once, and lines that use it', () => {
  const text = banner({}, { firstToken: { secret: 'agw_secret', token } });
  expect(text).toContain('Profile A   http://127.0.0.1:16830/api/v1\n');
  expect(text).toContain('Profile B   http://127.0.0.1:3120/api/v1\n');
  expect(text).toContain('Operations  http://127.0.0.1:9464 ');
  expect(text).toContain('Model       offline (no key is set)\n');
  expect(text).toMatch(/which cannot be shown again \(expires 2026-04-01\):\n\n {2}agw_secret\n/);
  expect(text).toContain('\n  TOKEN=agw_secret\n');
});

test('"npm start" prints a link to the console with its code in the fragment', () => {
  expect(banner({}, { signInCode: 'once' })).toContain('\n  http://127.0.0.1:3120/console#code=once\n');
  expect(banner({}, { signInCode: 'once', ports: { a: 16_830 } })).toContain(':16830/console#code=once\n');
  expect(banner({})).not.toContain('/console#');
});

test('a later start says how to make a token, in the data directory that is in use', () => {
  expect(banner({})).toContain('\n  TOKEN=$(npx agent-gateway auth token create)\n');
  expect(banner({ GATEWAY_DATA_DIR: "/srv/it's here" })).toContain(
    `TOKEN=$(GATEWAY_DATA_DIR='/srv/it'\\''s here' npx agent-gateway auth token create)`,
  );
});

test('the bootstrap token is named, never shown', () => {
  const text = banner({ GATEWAY_BOOTSTRAP_TOKEN: 'agw_bootstrap' });
  expect(text).toContain('\n  TOKEN=$GATEWAY_BOOTSTRAP_TOKEN\n');
  expect(text).not.toContain('agw_');
});

test('an external database is named without user and password', () => {
  const text = banner({ DATABASE_URL: 'postgres://me:hidden@db.example:5433/gw' }, { embedded: false });
  expect(text).toContain('PostgreSQL at db.example:5433/gw\n');
  expect(text).not.toMatch(/me:|hidden/);
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['::1', '[::1]'],
  ['gateway.local', 'gateway.local'],
])('for a gateway that listens on %s the lines call %s', (host, shown) => {
  expect(banner({ GATEWAY__GATEWAY__HOST: host })).toContain(`http://${shown}:16830/api/v1`);
});

test('a profile that is not served is not shown', () => {
  const text = banner({}, { ports: { b: 3120, operations: 9464 } });
  expect(text).not.toContain('Profile A');
  expect(text.match(/curl -s .*http:\/\/127\.0\.0\.1:3120/g)).toHaveLength(3);
});
