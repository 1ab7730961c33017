// A stdio MCP server that misbehaves on request. It uses no library, so that it controls every byte on the wire.
// Arguments: a mark to find its process by, then its mode: fine, crash, flood, garbage, silent or stubborn.
import { appendFileSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [mark, mode = 'fine', state = ''] = process.argv.slice(2);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const harmless = { readOnlyHint: true };
const schema = { type: 'object', properties: { text: { type: 'string' } } };

if (state !== '') appendFileSync(`${state}.starts`, `${process.pid}\n`);
if (mode === 'crash') {
  process.stderr.write('cannot find the configuration of the mark\n');
  process.exit(3);
}
if (mode === 'flood') setInterval(() => process.stdout.write('x'.repeat(1 << 20)), 1);
if (mode === 'chatter') {
  const note = { method: 'notifications/message', params: { level: 'info', data: 'x' } };
  setInterval(() => {
    for (let n = 0; n < 2000; n += 1) write(note);
  }, 1);
}
if (mode === 'garbage') setInterval(() => process.stdout.write('this is { no message\n'.repeat(50)), 1);
if (mode === 'stubborn') {
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1000);
}

function tools() {
  const description = state !== '' && existsSync(state) ? readFileSync(state, 'utf8') : 'Says it again.';
  return [
    { name: 'echo', description, inputSchema: schema, annotations: { readOnlyHint: true } },
    { name: 'erase', description: 'Erases.', inputSchema: schema, annotations: { destructiveHint: true } },
    {
      name: 'pid',
      description: 'Tells its process.',
      inputSchema: schema,
      annotations: { readOnlyHint: true },
    },
    { name: 'hang', description: 'Never answers.', inputSchema: schema, annotations: { readOnlyHint: true } },
    {
      name: 'freeze',
      description: 'Stops the whole server.',
      inputSchema: schema,
      annotations: { readOnlyHint: true },
    },
    {
      name: 'env',
      description: 'Tells its environment.',
      inputSchema: schema,
      annotations: { readOnlyHint: true },
    },
    {
      name: 'touch',
      description: 'Writes a file.',
      inputSchema: schema,
      annotations: { readOnlyHint: false },
    },
    { name: 'read', description: 'Reads a file.', inputSchema: schema, annotations: harmless },
    { name: 'await', description: 'Waits for a file.', inputSchema: schema, annotations: harmless },
    { name: 'meta', description: 'Tells what is said of the call.', inputSchema: schema },
    { name: 'hoard', description: 'Allocates this many MiB.', inputSchema: schema, annotations: harmless },
    { name: 'open', description: 'Opens this many files.', inputSchema: schema, annotations: harmless },
    ...(state !== '' && existsSync(`${state}.more`)
      ? [{ name: 'later', description: 'Came later.', inputSchema: schema }]
      : []),
  ];
}

const attempt = (work) => {
  try {
    return text(work());
  } catch (error) {
    return { ...text(String(error.message)), isError: true };
  }
};

const kept = [];
const calls = {
  echo: (args) => text(`echo: ${args.text}`),
  erase: () => text('erased'),
  pid: () => text(String(process.pid)),
  hang: () => {
    if (state !== '') appendFileSync(`${state}.hangs`, 'x');
  },
  freeze: () => {
    for (;;);
  },
  env: () => text(JSON.stringify(process.env)),
  touch: (args) => attempt(() => writeFileSync(args.text, 'written') ?? 'written'),
  read: (args) => attempt(() => readFileSync(args.text, 'utf8')),
  await: async (args) => {
    while (!existsSync(args.text) || readFileSync(args.text, 'utf8') === '') await sleep(10);
    return text(readFileSync(args.text, 'utf8'));
  },
  hoard: (args) =>
    attempt(() => {
      for (let mib = 0; mib < Number(args.text); mib += 16) kept.push(Buffer.alloc(16 << 20, 1));
      return `kept ${kept.length * 16} MiB`;
    }),
  meta: (_, meta) => text(JSON.stringify(meta)),
  open: (args) =>
    attempt(() => {
      for (let n = 0; n < Number(args.text); n += 1) openSync('/dev/null');
      return `opened ${args.text}`;
    }),
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (mode === 'silent' || mode === 'garbage') return;
  if (method === 'notifications/cancelled' && state !== '') {
    appendFileSync(`${state}.cancelled`, `${params.requestId}\n`);
  }
  if (method === 'initialize') {
    write({
      id,
      result: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: mark, version: '1' },
      },
    });
  }
  if (method === 'tools/list') write({ id, result: { tools: tools() } });
  if (method === 'ping') write({ id, result: {} });
  if (method === 'tools/call') {
    if (params.name === 'echo' && params.arguments.text === 'changed') {
      write({ method: 'notifications/tools/list_changed' });
    }
    const result = await calls[params.name]?.(params.arguments, params._meta);
    if (result !== undefined) write({ id, result });
  }
});
