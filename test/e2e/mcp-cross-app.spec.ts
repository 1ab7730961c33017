import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JWTPayload } from 'jose';
import { AssertionIssuer } from '../harness/assertion-issuer.js';
import { CompanyIssuer } from '../harness/company-issuer.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, say, serverB } from '../harness/mcp.js';
import { type TokenCheckingServer } from '../harness/token-checking-server.js';

/** Longer than the authorization server's tokens live. */
const EXPIRED_MS = 5500;
const SECRETS = { IDP_SECRET: 'secret-of-the-agents', DESK_SECRET: 'secret-of-the-gateway' };

let bench: McpBench;
let database: TestDatabase;
let gateway: TestGateway;
let company: CompanyIssuer;
let issuer: AssertionIssuer;
let server: TokenCheckingServer;
const tokens: string[] = [];

const serverTable = (account: string) => ({
  ...{ transport: 'http', url: server.url, identity: 'cross_app', health_interval_ms: 60_000 },
  ...{ oauth_issuer: issuer.url, oauth_client_id: 'gateway', oauth_client_secret_env: 'DESK_SECRET' },
  ...{ idp_issuer: company.url, idp_client_id: 'agents', idp_client_secret_env: 'IDP_SECRET' },
  idp_token_file: account,
});

beforeAll(async () => {
  [bench, database] = await Promise.all([McpBench.make({}), createTestDatabase()]);
  company = await CompanyIssuer.start(bench.folder);
  issuer = await AssertionIssuer.start(bench.folder, { [company.url]: `${company.url}/jwks` });
  server = await issuer.server();
  await company.allow(server.url);
  const account = join(bench.folder, 'account');
  await writeFile(account, await company.idToken('agents-account', { exp: 9_999_999_999 }));
  const people = `{ scopes = ["sessions:read", "sessions:write"], bound = true }`;
  await bench.write(
    { desk: serverTable(account) },
    `[auth.jwt.corp]\nissuer = "${company.url}"\naudience = "agents"\n[auth.jwt.corp.roles]\nstaff = ${people}\n`,
  );
  gateway = await startTestGateway({ database, env: { ...bench.env, ...SECRETS } });
  await eventually(
    async () => expect(await serverB(gateway, 'desk')).toMatchObject({ status: 'connected' }),
    30_000,
  );
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await server.stop();
  company.stop();
  issuer.stop();
  await Promise.all([bench.clear(), database.drop()]);
});

/** A tool call made for a person with this token. */
const callWith = async (token: string) => {
  tokens.push(token);
  return (await say({ a: gateway.caller('a', token) }, '/call desk__whoami {}')).tool_calls[0];
};
const whoami = async (token: string) => {
  const call = await callWith(token);
  expect([call?.status, call?.output]).toEqual(['success', call?.output]);
  return JSON.parse(call?.output ?? '') as JWTPayload;
};

test('the token with which a person came becomes one of theirs at the server, kept until it ends', async () => {
  const token = await company.idToken('ada');
  const first = await whoami(token);
  expect(first).toMatchObject({ sub: 'ada', iss: issuer.url, client_id: 'gateway' });
  expect((await whoami(token)).jti).toBe(first.jti);
  expect([company.exchanges('ada'), issuer.grants('ada')]).toEqual([['granted'], ['granted']]);
  await new Promise((done) => setTimeout(done, EXPIRED_MS));
  expect((await whoami(token)).jti).not.toBe(first.jti);
  expect(company.exchanges('ada')).toHaveLength(2);
});

test('each person has a token of their own, and the tools were listed by the account of the gateway', async () => {
  const people = ['bob', 'carl', 'dora'];
  const ids = await Promise.all(people.map((person) => company.idToken(person)));
  expect((await Promise.all(ids.map(whoami))).map(({ sub }) => sub)).toEqual(people);
  const list = server.calls.find(({ method }) => method === 'tools/list');
  expect(list?.claims.sub).toBe('agents-account');
});

test('whoever names a person gets nothing of theirs, not even a token that is kept', async () => {
  await whoami(await company.idToken('erin'));
  const { tool_calls: calls } = await say(gateway, '/call desk__whoami {}', {
    user_id: `${company.url}|erin`,
  });
  expect(calls[0]?.status).toBe('error');
  expect(calls[0]?.output).toContain('the message came without one');
  expect(company.exchanges('erin')).toEqual(['granted']);
});

test('when the company refuses a person, the call fails at step 1 with what it said, and nobody else does', async () => {
  const refused = await callWith(await company.idToken('trudy'));
  expect(refused?.status).toBe('error');
  expect(refused?.output).toContain(`${company.url} gave this user no access to ${issuer.url} (step 1 of 2`);
  expect(refused?.output).toContain('this person may not use that server');
  expect(issuer.grants('trudy')).toEqual([]);
  expect((await whoami(await company.idToken('bob'))).sub).toBe('bob');
  expect((await serverB(gateway, 'desk'))?.status).toBe('connected');
});

test('when the authorization server refuses a person, the call fails at step 2 with what it said', async () => {
  const refused = await callWith(await company.idToken('mallory'));
  expect(refused?.status).toBe('error');
  expect(refused?.output).toContain(`${issuer.url} did not take what ${company.url} gave`);
  expect(refused?.output).toContain('nobody of this name works here');
});

test('a kept token that the server refuses is got anew, once', async () => {
  const token = await company.idToken('frank');
  await whoami(token);
  issuer.revoked.add(server.calls.findLast(({ claims }) => claims.sub === 'frank')?.token ?? '');
  expect((await whoami(token)).sub).toBe('frank');
  expect(issuer.grants('frank')).toHaveLength(2);
});

test('an accepted message carries the token to whichever replica answers it, sealed, and drops it at its end', async () => {
  await database.query(`
    CREATE TABLE turns_as_they_were (status text, row text);
    CREATE FUNCTION note_turn() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO turns_as_they_were VALUES (NEW.status, NEW::text); RETURN NULL; END $$;
    CREATE TRIGGER note_turn AFTER INSERT OR UPDATE ON turns FOR EACH ROW EXECUTE FUNCTION note_turn()`);
  const token = await company.idToken('grace');
  tokens.push(token);
  const person = gateway.caller('a', token);
  const { body } = await person.post<{ session_id: string }>('/sessions', {});
  const accepted = await person.post(
    `/sessions/${body.session_id}/messages`,
    { content: '/call desk__whoami {}' },
    { prefer: 'respond-async' },
  );
  expect(accepted.status).toBe(202);
  const seen = () => database.query<{ status: string; row: string }>('SELECT * FROM turns_as_they_were');
  await eventually(async () => expect((await seen()).at(-1)?.status).toBe('completed'), 20_000);
  const rows = await seen();
  const carry = ({ row }: { row: string }): boolean => row.includes('identityToken');
  expect([carry(rows[0]!), carry(rows.at(-1)!)]).toEqual([true, false]);
  for (const { row } of rows) expect(row).not.toContain(token);
  expect(issuer.grants('grace')).toEqual(['granted']);
});

test('the tokens are bound to a key, which this issuer can do, and each request proves it', () => {
  const bound = server.calls.map(({ claims }) => (claims['cnf'] as { jkt?: string } | undefined)?.jkt);
  expect(bound.length).toBeGreaterThan(5);
  expect([...new Set(bound)]).toEqual([expect.any(String)]);
});

test('neither the tokens of people nor what they became are in the log', () => {
  const secrets = [...tokens, ...server.calls.map(({ token }) => token)];
  for (const line of gateway.logLines) for (const secret of secrets) expect(line).not.toContain(secret);
});
