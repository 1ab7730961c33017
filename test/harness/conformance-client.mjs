// The client that the conformance judge starts: it makes a running gateway connect to the judge's server and call a
// tool of it. Told by the environment: CONFIG_FILE, what else stands in it (CONFIG_BASE), GATEWAY_A,
// GATEWAY_TOKEN.
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

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

async function api(method, path, body) {
  const response = await fetch(GATEWAY_A + path, {
    method,
    headers: { authorization: `Bearer ${GATEWAY_TOKEN}`, 'content-type': 'application/json' },
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

/** The secrets that the judge's servers know, by the name of the variable that the gateway has them in. */
const SECRETS = { 'auth/pre-registration': 'JUDGE_PRE_REGISTERED_SECRET' };
/** Here the client has to refuse: the server names another resource than itself. */
const isToRefuse = MCP_CONFORMANCE_SCENARIO === 'auth/resource-mismatch';

async function credentials() {
  const { client_id: id = isToRefuse ? 'gateway' : undefined } = context;
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
const isThere = (s) => s.name === name && (isToRefuse ? s.error !== undefined : s.status === 'running');
await until(async () => (await api('GET', '/mcp/servers')).servers.find(isThere));
const { tools } = await api('GET', '/mcp/tools');
const own = tools.filter(({ server }) => server === name);
/** Values for what a tool takes, when the judge names none. */
const filled = ({ input_schema: { properties = {} } }) =>
  Object.fromEntries(
    Object.entries(properties).map(([key, { type }], n) => [key, type === 'string' ? `${n + 2}` : n + 2]),
  );
const called = (tool) => own.find((one) => one.name.endsWith(`__${tool}`));
/** The calls of scenarios that need more than one of the first tool. */
const CALLS = {
  'http-invalid-tool-headers': () => own.map((tool) => [tool, filled(tool)]),
  'sep-2322-client-request-state': () => own.map((tool) => [tool, filled(tool)]),
  'json-schema-2020-12-preservation': () => {
    const [focal = own[0]] = own.filter((one) => one.input_schema.$schema !== undefined);
    return [[called('json_schema_echo'), { schema: focal.input_schema }]];
  },
};
/** The gateway sends no null where a schema has none: such a value is left out, as the scenario allows. */
const withoutNulls = (args) => Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
const given = context.toolCalls?.map((one) => [called(one.name), withoutNulls(one.arguments)]);
const calls =
  given ?? CALLS[MCP_CONFORMANCE_SCENARIO]?.() ?? own.slice(0, 1).map((tool) => [tool, filled(tool)]);
const admin = GATEWAY_A.replace('/api/v1', '/admin/v1');
const headers = { authorization: `Bearer ${GATEWAY_TOKEN}`, 'content-type': 'application/json' };
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
    const { session_id: session } = await api('POST', '/sessions', {});
    const answer = await api('POST', `/sessions/${session}/messages`, {
      content: `/call ${tool.name} ${JSON.stringify(args)}`,
    });
    process.stderr.write(`${JSON.stringify(answer.tool_calls ?? answer)}\n`);
  }),
);
clearInterval(answering);
writeFileSync(CONFIG_FILE, CONFIG_BASE);
await until(async () => (await api('GET', '/mcp/servers')).servers.every((one) => one.name !== name));
