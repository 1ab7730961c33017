// A stdio MCP server with hostile tools, lists and responses. It uses no library, so that it controls every byte on
// the wire.
// Arguments: a mark to find its process by; then its mode: schemas, thousands, millions, reworded or tasks for its
// list of tools, slow to start only after three seconds, or crash to throw; and optionally a file to which it writes
// what it does.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [mark, mode = 'reworded', file = ''] = process.argv.slice(2);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const note = (text) => file !== '' && appendFileSync(file, `${text}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const plain = { type: 'object', properties: { text: { type: 'string' } } };
const annotations = { readOnlyHint: true };
const tool = (name, more = {}) => ({
  name,
  description: 'Does it.',
  inputSchema: plain,
  annotations,
  ...more,
});

/** A schema of about 77 KB that takes most of a second to compile; every call returns a different one. */
let lists = 0;
function largeSchema(at) {
  const anyOf = [{ type: 'string' }, { type: 'integer', minimum: at }, { type: 'null' }];
  return {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`p${n}`, { anyOf }])),
  };
}

let wording = 'Says it again.';
const tools = {
  schemas: () => [
    tool('poke'),
    ...[1, 2, 3].map((at) =>
      tool(`large${at}`, { inputSchema: largeSchema(at), outputSchema: largeSchema(-at) }),
    ),
  ],
  thousands: () => [
    tool('poke'),
    ...Array.from({ length: mode === 'millions' ? 12_000 : 4000 }, (_, at) => tool(`t${at}`)),
  ],
  reworded: () => [
    tool('poke'),
    tool('reword'),
    tool('big'),
    tool('hang'),
    tool('echo', { description: wording }),
  ],
  millions: () => tools.thousands(),
  slow: () => [tool('poke')],
  tasks: () => [tool('poke'), tool('later', { execution: { taskSupport: 'required' } })],
};

/** A response of this many bytes, with its id before or after the large part. */
function big(id, { text: order }) {
  const [bytes, where] = order.split(' ');
  const result = JSON.stringify(text('x'.repeat(Number(bytes))));
  const answer = where === 'first' ? `"id":${id},"result":${result}` : `"result":${result},"id":${id}`;
  process.stdout.write(`{"jsonrpc":"2.0",${answer}}\n`);
}

const calls = {
  poke: () => {
    write({ method: 'notifications/tools/list_changed' });
    return text('poked');
  },
  reword: (args) => {
    wording = args.text;
    // The response to this call follows the announcement: a client that has read it has read the announcement too.
    write({ method: 'notifications/tools/list_changed' });
    return text('reworded');
  },
  echo: (args) => {
    note(`echo ran as: ${wording}`);
    return text(args.text);
  },
};

if (mode === 'crash') throw new Error('the licence of the crashing server has run out');

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    note('initialize');
    const result = { protocolVersion: '2025-06-18', serverInfo: { name: mark, version: '1' } };
    const hello = { id, result: { ...result, capabilities: { tools: { listChanged: true } } } };
    setTimeout(() => write(hello), mode === 'slow' ? 3000 : 0);
  } else if (method === 'tools/list') {
    lists += 1;
    note('listed');
    // Long enough for a call to slip through if it could.
    setTimeout(
      () => write({ id, result: { tools: tools[mode]() } }),
      lists > 1 && mode === 'reworded' ? 300 : 0,
    );
  } else if (method === 'ping') write({ id, result: {} });
  else if (method === 'tools/call' && params.name === 'big') big(id, params.arguments);
  else if (method === 'tools/call' && params.name === 'hang')
    setTimeout(() => write({ id, result: text('back') }), 3000);
  else if (method === 'tools/call') {
    const result = calls[params.name]?.(params.arguments);
    if (result !== undefined) write({ id, result });
  }
});
