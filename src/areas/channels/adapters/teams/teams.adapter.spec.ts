import type { AdapterParts } from '../../channel-adapter.port.js';
import { TeamsAdapter } from './teams.adapter.js';

const ISSUER_URL = 'https://login.example.com/openid';
const START = Date.UTC(2026, 0, 1);
const REFRESH_MS = 600_000;

afterEach(() => jest.restoreAllMocks());

/** A replica that does not receive: it only looks at the tokens of what is posted to it. */
function bystander(): { adapter: TeamsAdapter; fetched: () => number } {
  const read = jest.fn(({ url }: { readonly url: string }) => {
    const said = url === ISSUER_URL ? { jwks_uri: 'https://login.example.com/keys' } : { keys: [] };
    return Promise.resolve({ status: 200, body: Buffer.from(JSON.stringify(said)) });
  });
  const settings = {
    ...{ app_id: 'app', tenant_id: 'tenant', issuer: 'https://issuer.example.com', openid_url: ISSUER_URL },
    ...{ login_url: 'https://login.example.com', request_timeout_ms: 1000, assertion_file: '/run/token' },
  };
  const parts = { name: 'teams', settings, environment: {}, outbound: { read }, logger: {} };
  const adapter = new TeamsAdapter(parts as unknown as AdapterParts);
  return { adapter, fetched: () => read.mock.calls.filter(([{ url }]) => url === ISSUER_URL).length };
}

test('a replica that does not receive also refreshes the keys, at most every ten minutes', async () => {
  const now = jest.spyOn(Date, 'now').mockReturnValue(START);
  const { adapter, fetched } = bystander();
  const fetches: number[] = [];
  for (const ms of [0, 1000, REFRESH_MS, REFRESH_MS + 1000]) {
    now.mockReturnValue(START + ms);
    expect(await adapter.claims('no.token.atall')).toBeUndefined();
    await new Promise((resolve) => setImmediate(resolve));
    fetches.push(fetched());
  }
  expect(fetches).toEqual([1, 1, 2, 2]);
});
