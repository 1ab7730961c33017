import { randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { run, start } from './run.mjs';

const MEMORY_SERVER = resolve('node_modules/@modelcontextprotocol/server-memory/dist/index.js');

/**
 * Starts a gateway with a tool server and a plugin, so that every operation has something to work on.
 * @param more additional tables of its settings
 * @param secrets additional environment variables
 */
export async function startGateway(more = '', secrets = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-gateway-clients-run-'));
  const ports = { a: await freePort(), b: await freePort(), operations: await freePort() };
  const file = join(folder, 'gateway.toml');
  await writeFile(file, `${settings(ports)}${more}`);
  const env = {
    ...secrets,
    GATEWAY_CONFIG: file,
    GATEWAY_DATA_DIR: join(folder, 'data'),
    DATABASE_URL: process.env.TEST_DATABASE_URL ?? '',
  };
  if (env.DATABASE_URL === '') delete env.DATABASE_URL;
  else env.GATEWAY_MASTER_KEY = 'a master key that only this trial uses';
  const gateway = await start(process.execPath, [resolve('bin/agent-gateway.js'), 'serve'], {
    cwd: folder,
    env,
    ready: async () => (await fetch(`http://127.0.0.1:${ports.operations}/readyz`)).ok,
  }).catch(async (error) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  const create = ['auth', 'token', 'create', '--name', 'clients', '--preset', 'admin', '--expires-in', '1d'];
  const printed = await run(process.execPath, [resolve('bin/agent-gateway.js'), ...create], {
    cwd: folder,
    env,
  });
  return {
    ports,
    file,
    settings: settings(ports),
    token: /agw_[\w-]{49}/.exec(printed)?.[0] ?? '',
    stop: async () => {
      await gateway.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function settings(ports) {
  return `[gateway]
host = "127.0.0.1"
profile_a_port = ${ports.a}
port = ${ports.b}
management_port = ${ports.operations}
drain_grace_ms = 0

[rate_limits]
sessions_write = 10000
sessions_read = 10000
config_write = 10000
other = 10000

[mcp.servers.memory]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(MEMORY_SERVER)}]

[plugins]
directory = ${JSON.stringify(resolve('plugins'))}
`;
}

/**
 * A free port below those that systems give to whoever asks for any: a gateway takes seconds to start, and until then
 * nobody else gets it by chance.
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise((resolveFree) => {
      server.once('error', () => resolveFree(false));
      server.listen(port, '127.0.0.1', () => resolveFree(true));
    });
    if (!isFree) continue;
    await new Promise((closed) => server.close(closed));
    return port;
  }
}
