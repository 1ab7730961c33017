// A stdio MCP server that tries what a sandbox must prevent and reports the results. It ignores its arguments.
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const MIB = 1 << 20;
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

/** The output of a shell command, or how it failed. */
function shell(command) {
  try {
    return execFileSync('sh', ['-c', command], { encoding: 'utf8', timeout: 20_000 }).trim();
  } catch (error) {
    return `failed: ${error.status} ${String(error.stderr).trim()}`;
  }
}

/** Whether a socket accepts a connection. A leading @ means the abstract namespace. */
function reach(path) {
  return new Promise((resolve) => {
    const socket = connect({ path: path.replace(/^@/, '\0') });
    socket.once('connect', () => resolve('connected') ?? socket.destroy());
    socket.once('error', (error) => resolve(error.code));
  });
}

/** How many MiB fit into a folder. */
function fill(folder) {
  const file = `${folder}/filling-${process.pid}`;
  const chunk = Buffer.alloc(MIB, 1);
  const descriptor = openSync(file, 'w');
  let written = 0;
  try {
    while (written < 2048 * MIB) written += writeSync(descriptor, chunk);
    return 'no end';
  } catch (error) {
    return `${error.code} after ${Math.round(written / MIB)} MiB`;
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
}

/** How many processes can exist at once, tried up to `most`. */
async function multiply(most) {
  const children = [];
  let refused = 0;
  for (let n = 0; n < most; n += 1) {
    const child = spawn('sleep', ['30'], { stdio: 'ignore' });
    child.on('error', () => undefined);
    if (child.pid === undefined) refused += 1;
    else children.push(child);
  }
  await sleep(100);
  for (const child of children) child.kill('SIGKILL');
  return `${children.length} started, ${refused} refused`;
}

/** Starts processes that allocate this many MiB each; returns how many of them were killed. */
async function hoard(count, mib) {
  const program = `const kept=[];for(let n=0;n<${mib};n+=16)kept.push(Buffer.alloc(16<<20,1));console.log('kept');setTimeout(()=>0,10000)`;
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const ends = children.map(
    (child) =>
      new Promise((resolve) => {
        child.stdout.once('data', () => resolve('kept'));
        child.once('exit', () => resolve('ended'));
      }),
  );
  const outcomes = await Promise.all(ends);
  for (const child of children) child.kill('SIGKILL');
  return `${outcomes.filter((outcome) => outcome === 'kept').length} of ${count} kept it`;
}

const probes = {
  shell: ({ text }) => shell(text),
  read: ({ text }) => readFileSync(text, 'utf8'),
  list: ({ text }) => readdirSync(text).sort().join(' '),
  reach: ({ text }) => reach(text),
  fill: ({ text }) => fill(text),
  multiply: ({ text }) => multiply(Number(text)),
  hoard: ({ text }) => hoard(...text.split(' ').map(Number)),
  env: () => JSON.stringify(process.env),
};

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
const tools = Object.keys(probes).map((name) => ({
  name,
  description: `Tries to ${name}.`,
  inputSchema,
  annotations: { readOnlyHint: true },
}));

async function call({ name, arguments: args }) {
  try {
    return { content: [{ type: 'text', text: String(await probes[name](args)) }] };
  } catch (error) {
    return { content: [{ type: 'text', text: String(error.code ?? error.message) }], isError: true };
  }
}

const answers = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'prober', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': call,
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  if (answer !== undefined && id !== undefined) write({ id, result: await answer(params) });
});
