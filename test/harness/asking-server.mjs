// A stdio MCP server that sends its client requests while it runs a call. It uses no library, so that it can also
// send requests that no well-behaved server would. Argument: a mark to find its process by.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [mark] = process.argv.slice(2);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const waiting = new Map();
let asked = 0;
let declared = {};

function ask(method, params) {
  asked += 1;
  const id = `${mark}-${asked}`;
  write({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const object = (properties) => ({ type: 'object', properties });
const any = { type: 'object' };
const tools = [
  { name: 'ask', description: 'Asks what it is given.', inputSchema: any },
  { name: 'ask_slowly', description: 'Asks, and works for a while afterwards.', inputSchema: any },
  { name: 'ask_often', description: 'Asks again and again.', inputSchema: any },
  { name: 'forget', description: 'Asks, withdraws it and answers.', inputSchema: any },
  { name: 'sleep', description: 'Sleeps.', inputSchema: object({ ms: { type: 'integer' } }) },
  { name: 'request', description: 'Makes any request of the client.', inputSchema: any },
  { name: 'declared', description: 'What the client declared.', inputSchema: any },
];

const calls = {
  ask: async (params) => text(JSON.stringify(await ask('elicitation/create', params))),
  ask_slowly: async ({ ms, ...params }) => {
    const answer = await ask('elicitation/create', params);
    await sleep(ms);
    return text(JSON.stringify(answer));
  },
  ask_often: async ({ times, ...params }) => {
    const answers = [];
    for (let n = 0; n < times; n += 1) answers.push(await ask('elicitation/create', params));
    return text(JSON.stringify(answers));
  },
  forget: async (params) => {
    void ask('elicitation/create', params);
    const requestId = `${mark}-${asked}`;
    await sleep(400);
    write({ method: 'notifications/cancelled', params: { requestId, reason: 'not needed any more' } });
    await sleep(200);
    return text('forgotten');
  },
  sleep: async ({ ms }) => {
    await sleep(ms);
    return text('slept');
  },
  request: async ({ method, params }) => text(JSON.stringify(await ask(method, params))),
  declared: () => text(JSON.stringify(declared)),
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    waiting.get(id)?.(result ?? { error });
    waiting.delete(id);
  }
  if (method === 'initialize') {
    declared = params.capabilities;
    const serverInfo = { name: mark, version: '1' };
    write({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list') write({ id, result: { tools } });
  if (method === 'ping') write({ id, result: {} });
  if (method === 'tools/call') write({ id, result: await calls[params.name](params.arguments ?? {}) });
});
