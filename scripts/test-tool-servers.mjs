// Connects one gateway to all the tool servers that others publish, and writes the table in docs/mcp.md; see
// docs/testing.md.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway } from './clients/gateway.mjs';
import { installed } from './clients/install.mjs';
import { SERVERS } from './tool-servers/servers.mjs';

const SOURCE = resolve('test/tool-servers');
const PAGE = resolve('docs/mcp.md');
const LIMIT_MS = 240_000;
const BEGIN = '<!-- tool servers: written by npm run test:tool-servers -->';
const END = '<!-- end of tool servers -->';

const folder = await installed(SOURCE, 'agent-gateway-tool-servers', ['node']);
await copyFile(join(SOURCE, 'fastmcp-server.mjs'), join(folder, 'fastmcp-server.mjs'));
const files = join(folder, 'files');
await mkdir(files, { recursive: true });
await writeFile(join(files, 'note.txt'), 'heliotrope');

const placed = (value) => JSON.parse(JSON.stringify(value).replaceAll('"FOLDER"', JSON.stringify(files)));

async function tableOf(name, { from, bin, script, args = [], env = {} }) {
  const home = join(folder, 'node_modules', from);
  const { bin: bins, version } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'));
  const program = typeof bins === 'string' ? bins : bins[bin ?? Object.keys(bins)[0]];
  const path = script === undefined ? join(home, program) : join(folder, script);
  const variables = Object.entries(env).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  const toml = `
[mcp.servers.${name}]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([path, ...placed(args)])}
env = { ${variables.join(', ')} }
startup_timeout_ms = 60000
`;
  return { name, from, version, toml };
}

const tables = await Promise.all(Object.entries(SERVERS).map(([name, server]) => tableOf(name, server)));
const gateway = await startGateway(
  `\n[security.sandbox]\nbackend = "none"\n${tables.map(({ toml }) => toml).join('')}`,
);
const authorization = `Bearer ${gateway.token}`;
async function api(path, body) {
  const answer = await fetch(`http://127.0.0.1:${gateway.ports.a}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return answer.json();
}

/** Whether the server's tool call, made in a turn, gives the expected result; undefined for a server without one. */
async function called(name) {
  const { call } = SERVERS[name];
  if (call === undefined) return undefined;
  const [tool, args, expected] = call;
  const { session_id: session } = await api('/api/v1/sessions', {});
  const content = `/call ${name}__${tool} ${JSON.stringify(placed(args))}`;
  const { tool_calls: [made] = [] } = await api(`/api/v1/sessions/${session}/messages`, { content });
  if (made?.status !== 'success' || !expected.test(made.output))
    throw new Error(`${name}: ${tool} gave ${JSON.stringify(made)}`);
  return tool;
}

let failed = 0;
try {
  const deadline = Date.now() + LIMIT_MS;
  const listed = async () =>
    new Map((await api('/admin/v1/mcp/servers?limit=100')).items.map((server) => [server.name, server]));
  let found = await listed();
  const isMissing = () => tables.some(({ name }) => found.get(name)?.status !== 'connected');
  while (isMissing() && Date.now() < deadline) {
    await sleep(1000);
    found = await listed();
  }
  const rows = [];
  for (const { name, from, version } of tables) {
    const server = found.get(name);
    try {
      if (server?.status !== 'connected') throw new Error(`${name}: ${server?.status}, ${server?.error}`);
      const tool = await called(name);
      const { tools, prompts } = server;
      rows.push(
        `| \`${from}\` | ${version} | ${tools.length} | ${prompts.length} | ${tool === undefined ? '' : `\`${tool}\``} |`,
      );
      console.log(`ok      ${name}: ${tools.length} tools`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${error.message}`);
    }
  }
  if (failed === 0) {
    const head = '| Package | Version | Tools | Prompts | Called in a turn |\n|---|---|---|---|---|';
    const page = await readFile(PAGE, 'utf8');
    const [before, rest = ''] = page.split(BEGIN);
    await writeFile(PAGE, `${before}${BEGIN}\n${head}\n${rows.join('\n')}\n${END}${rest.split(END)[1]}`);
  }
} finally {
  await gateway.stop();
}
process.exitCode = failed === 0 ? 0 : 1;
