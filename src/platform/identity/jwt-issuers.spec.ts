import { silentLogs } from '../logging/logger.js';
import { settingsSchema } from '../settings/settings.schema.js';
import { SettingsChanges } from '../settings/settings-changes.js';
import { JwtIssuers } from './jwt-issuers.service.js';
import { KeyFetcher } from './key-fetcher.js';

const ISSUER = 'https://login.example.com/';
const corp = { issuer: ISSUER, audience: 'agent-gateway' };
const wiki = {
  ...{ transport: 'http', url: 'https://wiki.example.com/mcp', identity: 'cross_app' },
  ...{ idp_issuer: ISSUER, idp_client_id: 'gateway' },
  ...{ oauth_issuer: 'https://wiki.example.com/', oauth_client_id: 'gateway' },
};

/** Issuers that follow settings, and how often they said so. */
function following(first: object) {
  const settings = { current: settingsSchema.parse(first) };
  const changes = new SettingsChanges(silentLogs.for('test'));
  const fetcher = Object.create(KeyFetcher.prototype) as KeyFetcher;
  jest.spyOn(fetcher, 'fetch').mockResolvedValue({ keys: [] });
  const issuers = new JwtIssuers(settings, changes, fetcher, silentLogs);
  let reconfigured = 0;
  issuers.onReconfigured(() => {
    reconfigured += 1;
  });
  const change = async (next: object, keys: string[]) => {
    const after = settingsSchema.parse(next);
    const tell = await changes.prepare({ before: settings.current, after, keys });
    settings.current = after;
    tell();
  };
  return { issuers, change, timesReconfigured: () => reconfigured };
}

test('a tool server that takes tokens of an issuer makes earlier results void; other settings do not', async () => {
  const { issuers, change, timesReconfigured } = following({ auth: { jwt: { corp } } });
  issuers.onApplicationBootstrap();
  const issuer = issuers.all().get(ISSUER)!;
  const [keys, before] = [issuers.keysOf(issuer), issuers.all()];
  await change({ auth: { jwt: { corp } }, agent: { max_turns: 3 } }, ['agent.max_turns']);
  expect([issuers.all(), timesReconfigured()]).toEqual([before, 1]);
  expect(issuers.all()).toBe(before);
  expect(issuers.areForTools(issuer)).toBe(false);
  await change({ auth: { jwt: { corp } }, mcp: { servers: { wiki } } }, ['mcp.servers.wiki.identity']);
  expect([issuers.areForTools(issuer), timesReconfigured()]).toEqual([true, 2]);
  expect(issuers.keysOf(issuer)).toBe(keys);
  await issuers.onModuleDestroy();
});

test('keys that come from another place are fetched anew, and those of a removed issuer are dropped', async () => {
  const { issuers, change } = following({ auth: { jwt: { corp } } });
  issuers.onApplicationBootstrap();
  const issuer = issuers.all().get(ISSUER)!;
  const keys = issuers.keysOf(issuer);
  const moved = { ...corp, jwks_url: 'https://login.example.com/keys' };
  await change({ auth: { jwt: { corp: moved } } }, ['auth.jwt.corp.jwks_url']);
  expect(issuers.keysOf(issuer)).toBeDefined();
  expect(issuers.keysOf(issuer)).not.toBe(keys);
  await change({}, ['auth.jwt.corp.issuer']);
  expect([issuers.all().size, issuers.keysOf(issuer)]).toEqual([0, undefined]);
  await issuers.onModuleDestroy();
});
