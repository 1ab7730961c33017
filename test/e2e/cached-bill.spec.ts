import type { ServerResponse } from 'node:http';
import { Memory } from '../../src/areas/memory/memory.service.js';
import { startTestGateway } from '../harness/gateway.js';
import { anthropicUsage, type BilledInput, PrefixBilling } from '../harness/prefix-billing.js';
import { beginStream, startScriptedProvider } from '../harness/scripted-provider.js';

const QUESTIONS = 20;
const CALLS_PER_QUESTION = 3;
/** Anthropic's prices for writing and reading a prefix, relative to plain input. */
const WRITTEN = 1.25;
const READ = 0.1;
const MOST = 0.25;

/** Distinct words, about four bytes per token. */
const words = (topic: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${topic} ${index}`).join(', ');

/** About 1,500 tokens, as an operator of a support desk might write. */
const SYSTEM_PROMPT = `You answer customers of a shop. Keep to these rules. ${words('rule', 700)}.`;
const TOOLS = ['orders_find', 'orders_show', 'stock_count', 'tickets_open', 'tickets_search'];
const NOTES = ['The customer', 'Ships to', 'Invoices', 'Speaks', 'Prefers'].map(
  (note) => `${note} order ${words('note', 20)}.`,
);

/** Asks for two tools, one after the other, and then answers. */
function answer(response: ServerResponse, usage: object, call: number): void {
  const asks = call % CALLS_PER_QUESTION !== 0;
  const name = TOOLS[call % TOOLS.length];
  const [block, delta] = asks
    ? [
        { type: 'tool_use', id: `toolu_${call}`, name, input: {} },
        { type: 'input_json_delta', partial_json: JSON.stringify({ query: `order ${call}` }) },
      ]
    : [
        { type: 'text', text: '' },
        { type: 'text_delta', text: `Your order: ${words('line', 60)}.` },
      ];
  beginStream(
    response,
    { type: 'message_start', message: { model: 'm', usage: { ...usage, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: asks ? 'tool_use' : 'end_turn' },
      usage: { output_tokens: 40 },
    },
    { type: 'message_stop' },
  );
  response.end();
}

test('20 questions with 60 calls of the model cost at most a quarter of what they would without a cache', async () => {
  const billing = new PrefixBilling();
  const bills: BilledInput[] = [];
  const bodies: string[] = [];
  const provider = await startScriptedProvider();
  provider.script((response, { body }) => {
    const bill = billing.bill(body);
    bills.push(bill);
    bodies.push(JSON.stringify(body));
    answer(response, anthropicUsage(bill), bills.length);
  });
  const gateway = await startTestGateway({
    env: {
      GATEWAY__PROVIDER__KIND: 'anthropic',
      GATEWAY__PROVIDER__API_KEY: 'key-4711',
      GATEWAY__PROVIDER__BASE_URL: provider.url,
      GATEWAY__PROVIDER__MODEL: 'm',
      GATEWAY__AGENT__SYSTEM_PROMPT: SYSTEM_PROMPT,
    },
  });
  for (const name of TOOLS)
    gateway.tools.register({
      name,
      description: `Looks into the shop's records: ${words(name, 40)}.`,
      inputSchema: { type: 'object', properties: { query: { type: 'string', description: name } } },
      run: (args) => Promise.resolve(`${String(args['query'])}: ${words('record', 120)}`),
    });
  const { body } = await gateway.b.post<{ id: string }>('/sessions', { user_id: 'ada' });
  const memory = gateway.started.app.get(Memory, { strict: false });
  const context = { sessionId: body.id, channel: 'api', userId: 'ada' };
  for (const content of NOTES) await memory.remember(context, content);
  for (let question = 1; question <= QUESTIONS; question += 1) {
    const content = `Question ${question}: where is order ${question}? ${words('detail', 40)}`;
    expect((await gateway.b.post(`/sessions/${body.id}/messages`, { content })).status).toBe(200);
  }
  await gateway.stop();
  await provider.stop();

  const sumOf = (part: keyof BilledInput) => bills.reduce((sum, bill) => sum + bill[part], 0);
  expect(bills).toHaveLength(QUESTIONS * CALLS_PER_QUESTION);
  expect(bodies.every((one) => one.includes('<memories>'))).toBe(true);
  const cost = sumOf('plain') + WRITTEN * sumOf('written') + READ * sumOf('read');
  const figures = { uncached: sumOf('total'), plain: sumOf('plain'), written: sumOf('written') };
  const share = Number((cost / figures.uncached).toFixed(3));
  process.stdout.write(`${JSON.stringify({ ...figures, read: sumOf('read'), share })}\n`);
  expect(share).toBeLessThanOrEqual(MOST);
}, 60_000);
