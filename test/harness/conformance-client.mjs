// The client that the conformance suite starts: it makes a running gateway connect to the suite's server and call a
// tool there. Environment: CONFIG_FILE and the rest of its contents (CONFIG_BASE), GATEWAY_A, GATEWAY_TOKEN.
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { keysOf, published } from './judge-company.mjs';

const url = process.argv.at(-1);
const {
  CONFIG_FILE,
  CONFIG_BASE = '',
  GATEWAY_A,
  GATEWAY_TOKEN,
  MCP_CONFORMANCE_SCENARIO,
  MCP_CONFORMANCE_CONTEXT,
} = process.env;
const context = JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}');

async function api(method, path, body, token = GATEWAY_TOKEN) {
  const response = await fetch(GATEWAY_A + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}

async function until(look) {
  for (;;) {
    const found = await look();
    if (found) return found;
    await sleep(50);
  }
}

const MOST_SIGN_INS = 3;
/** The secrets that the suite's servers know, and the variables from which the gateway reads them. */
const SECRETS = { 'auth/pre-registration': 'JUDGE_PRE_REGISTERED_SECRET' };
/** The client must refuse here: the server's metadata names another resource. */
const isToRefuse = MCP_CONFORMANCE_SCENARIO === 'auth/resource-mismatch';

/** The document that the suite accepts as a client id, where it supports such ids. */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json';
/**
 * Scenarios in which the client has its own credentials. In the other scenarios of `auth/` an operator signs in with
 * a browser.
 */
const ALONE = /^auth\/(client-credentials-|pre-registration|resource-mismatch|wif-|enterprise-managed-)/;
const signsIn = MCP_CONFORMANCE_SCENARIO.startsWith('auth/') && !ALONE.test(MCP_CONFORMANCE_SCENARIO);

/** A person who presents the ID token of the suite's company; the gateway's own account there uses it too. */
const comesFromCompany = context.idp_id_token !== undefined;
async function crossApp(id, issuer) {
  const { idp_id_token: token, idp_issuer: company, idp_client_id: client } = context;
  const file = `${CONFIG_FILE}.jwt`;
  writeFileSync(file, token);
  const keys = await published(keysOf(token)[0]);
  return `identity = "cross_app"
oauth_client_id = "${id}"
oauth_client_secret_env = "JUDGE_CROSS_APP_SECRET"
oauth_issuer = "${issuer}"
idp_issuer = "${company}"
idp_client_id = "${client}"
idp_token_file = "${file}"

[auth.jwt.judge]
issuer = "${company}"
audience = "${client}"
jwks_url = "${keys}"
[auth.jwt.judge.roles]
"*" = { scopes = ["sessions:read", "sessions:write"], bound = true }
`;
}

async function credentials() {
  if (signsIn && MCP_CONFORMANCE_SCENARIO !== 'auth/basic-cimd') return 'oauth_sign_in = true\n';
  const known = { 'auth/resource-mismatch': 'gateway', 'auth/basic-cimd': CLIENT_DOCUMENT };
  const { client_id: id = known[MCP_CONFORMANCE_SCENARIO] } = context;
  if (id === undefined) return '';
  const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url)).then((answer) =>
    answer.ok
      ? answer.json()
      : fetch(new URL('/.well-known/oauth-protected-resource', url)).then((other) => other.json()),
  );
  const [issuer] = metadata.authorization_servers;
  if (context.private_key_pem !== undefined) {
    const file = `${CONFIG_FILE}.pem`;
    writeFileSync(file, context.private_key_pem);
    return `oauth_client_id = "${id}"\noauth_private_key_file = "${file}"\noauth_issuer = "${issuer}"\n`;
  }
  if (context.valid_jwt !== undefined) {
    const file = `${CONFIG_FILE}.jwt`;
    writeFileSync(file, context.valid_jwt);
    return `oauth_client_id = "${id}"\noauth_workload_token_file = "${file}"\noauth_issuer = "${issuer}"\n`;
  }
  if (comesFromCompany) return crossApp(id, issuer);
  if (signsIn) return `oauth_sign_in = true\noauth_client_id = "${id}"\noauth_issuer = "${issuer}"\n`;
  const variable = SECRETS[MCP_CONFORMANCE_SCENARIO] ?? 'JUDGE_SECRET';
  return `oauth_client_id = "${id}"\noauth_client_secret_env = "${variable}"\noauth_issuer = "${issuer}"\n`;
}

const name = MCP_CONFORMANCE_SCENARIO.toLowerCase()
  .replaceAll(/[^a-z0-9]+/g, '-')
  .slice(0, 32);
writeFileSync(
  CONFIG_FILE,
  `${CONFIG_BASE}\n[mcp.servers.${name}]\ntransport = "http"\nurl = "${url}"\n${await credentials()}`,
);
/**
 * What an operator and their browser do.
 * @returns whether the sign-in succeeded
 */
async function signIn() {
  const asked = await fetch(`${admin}/mcp/servers/${name}/sign-in`, { method: 'POST', headers, body: '{}' });
  const link = await asked.json();
  if (!asked.ok) {
    process.stderr.write(`${JSON.stringify(link)}\n`);
    return false;
  }
  const { headers: sent } = await fetch(link.url, { redirect: 'manual' });
  const back = new URL(sent.get('location'));
  const page = await fetch(`${new URL(GATEWAY_A).origin}${back.pathname}${back.search}`);
  process.stderr.write(`${await page.text()}\n`);
  return page.ok;
}
const isThere = (s) => s.name === name && (isToRefuse ? s.error !== undefined : s.status === 'running');
const admin = GATEWAY_A.replace('/api/v1', '/admin/v1');
const headers = { authorization: `Bearer ${GATEWAY_TOKEN}`, 'content-type': 'application/json' };
const wantsSignIn = (text) => text?.includes('mcp sign-in') === true;
let signIns = 0;
/** Signs in when the text asks for it, as often as an operator would try; never again after a refusal. */
async function signInIf(text) {
  if (!signsIn || !wantsSignIn(text) || signIns >= MOST_SIGN_INS) return false;
  signIns += 1;
  if (await signIn()) return true;
  signIns = MOST_SIGN_INS;
  return false;
}
await until(async () => {
  const found = (await api('GET', '/mcp/servers')).servers.find((s) => s.name === name);
  if (found === undefined) return undefined;
  if (isThere(found)) return found;
  if (found.error !== undefined) await signInIf(found.error);
  return signsIn && signIns >= MOST_SIGN_INS && found.error !== undefined ? found : undefined;
});
const { tools } = await api('GET', '/mcp/tools');
const own = tools.filter(({ server }) => server === name);
/** Values for a tool's arguments when the suite names none. */
const filled = ({ input_schema: { properties = {} } }) =>
  Object.fromEntries(
    Object.entries(properties).map(([key, { type }], n) => [key, type === 'string' ? `${n + 2}` : n + 2]),
  );
const called = (tool) => own.find((one) => one.name.endsWith(`__${tool}`));
/** Scenarios that need more than one call of the first tool. */
const CALLS = {
  'http-invalid-tool-headers': () => own.map((tool) => [tool, filled(tool)]),
  'sep-2322-client-request-state': () => own.map((tool) => [tool, filled(tool)]),
  'json-schema-2020-12-preservation': () => {
    const [focal = own[0]] = own.filter((one) => one.input_schema.$schema !== undefined);
    return [[called('json_schema_echo'), { schema: focal.input_schema }]];
  },
};
/**
 * The gateway sends no null where the schema does not allow it. Such a value is left out, as the scenario permits.
 */
const withoutNulls = (args) => Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
const given = context.toolCalls?.map((one) => [called(one.name), withoutNulls(one.arguments)]);
const calls =
  given ?? CALLS[MCP_CONFORMANCE_SCENARIO]?.() ?? own.slice(0, 1).map((tool) => [tool, filled(tool)]);
const answering = setInterval(async () => {
  const { items = [] } = await fetch(`${admin}/questions`, { headers }).then((r) => r.json());
  for (const { id } of items)
    await fetch(`${admin}/questions/${id}/answer`, {
      method: 'POST',
      headers,
      body: '{"action":"accept","content":{}}',
    });
}, 200);
await Promise.all(
  calls.map(async ([tool, args]) => {
    if (tool === undefined) return;
    const { session_id: session } = await api('POST', '/sessions', {}, context.idp_id_token);
    for (let again = true; again; ) {
      const content = `/call ${tool.name} ${JSON.stringify(args)}`;
      const answer = await api('POST', `/sessions/${session}/messages`, { content }, context.idp_id_token);
      process.stderr.write(`${JSON.stringify(answer.tool_calls ?? answer)}\n`);
      again = await signInIf(answer.tool_calls?.[0]?.output);
    }
  }),
);
clearInterval(answering);
writeFileSync(CONFIG_FILE, CONFIG_BASE);
await until(async () => (await api('GET', '/mcp/servers')).servers.every((one) => one.name !== name));
