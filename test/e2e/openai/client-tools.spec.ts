import type OpenAI from 'openai';
import type { Response as OpenAiResponse } from 'openai/resources/responses/responses';
import { createTestDatabase, type TestDatabase } from '../../harness/database.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import type { JudgingModel } from '../../harness/judging-model.js';
import { openAiClient, outputsOf, refusalOf, startEchoModel } from '../../harness/openai-face.js';

const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
};

let database: TestDatabase;
let model: JudgingModel;
let gateway: TestGateway;
let client: OpenAI;

async function start(): Promise<void> {
  gateway = await startTestGateway({ database, env: model.env });
  client = openAiClient(gateway);
}

beforeAll(async () => {
  [database, model] = await Promise.all([createTestDatabase(), startEchoModel()]);
  await start();
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
  await database.drop();
});

const asked = { model: 'default', tools: [weather] };

function callsOf(response: OpenAiResponse) {
  return response.output.filter((item) => item.type === 'function_call');
}

async function sessionOf({ id }: OpenAiResponse): Promise<string> {
  const [row] = await database.query<{ session_id: string }>('SELECT session_id FROM turns WHERE id = $1', [
    id.replace('resp_', 'turn_'),
  ]);
  return row!.session_id;
}

async function detailOf(session: string): Promise<{ status: string; pending?: string }> {
  return (await gateway.b.get<{ status: string; pending?: string }>(`/sessions/${session}`)).body;
}

test('"the turn waits with the calls and goes on with their outputs; the session\'s status stays `active`, `pending: "requires_action"`"', async () => {
  const first = await client.responses.create({ ...asked, input: 'call weather and call weather' });
  expect(callsOf(first)).toHaveLength(2);
  const session = await sessionOf(first);
  expect(await detailOf(session)).toMatchObject({ status: 'active', pending: 'requires_action' });
  const second = await client.responses.create({
    ...asked,
    previous_response_id: first.id,
    input: outputsOf(first),
  });
  expect(second.output_text).toContain('told rain, rain');
  expect(await detailOf(session)).not.toHaveProperty('pending');
  const history = await gateway.b.get<{ messages: { tool_calls?: { status: string; output: string }[] }[] }>(
    `/sessions/${session}/messages`,
  );
  const calls = history.body.messages.flatMap(({ tool_calls: made }) => made ?? []);
  expect(calls.map(({ status, output }) => [status, output])).toEqual([
    ['success', 'rain'],
    ['success', 'rain'],
  ]);
  const third = await client.responses.create({ ...asked, previous_response_id: second.id, input: 'More' });
  expect(third.output_text).toContain('the last: More told rain, rain');
});

test('streamed, and after a restart', async () => {
  const first = await client.responses.stream({ ...asked, input: 'call weather' }).finalResponse();
  const found = await client.responses.retrieve(first.id);
  expect(first.output).toMatchObject(callsOf(found));
  expect(callsOf(found)).toHaveLength(1);
  await gateway.stop();
  await start();
  const session = await sessionOf(found);
  expect(await detailOf(session)).toMatchObject({ pending: 'requires_action' });
  const second = await client.responses.create({
    ...asked,
    previous_response_id: found.id,
    input: outputsOf(found, 'snow'),
    background: true,
    stream: true,
  });
  let text = '';
  for await (const event of second)
    if (event.type === 'response.completed') text = JSON.stringify(event.response.output);
  expect(text).toContain('told snow');
});

test('a caller who continues without outputs may: the model is told that there are none', async () => {
  const first = await client.responses.create({ ...asked, input: 'call weather and call weather' });
  const [one] = outputsOf(first);
  const second = await client.responses.create({
    ...asked,
    previous_response_id: first.id,
    input: [one!, { role: 'user', content: 'Never mind the other' }],
  });
  expect(second.output_text).toMatch(/told rain, No result:/);
});

test('also with a message to its session, which then waits no longer; outputs come too late', async () => {
  const first = await client.responses.create({ ...asked, input: 'call weather' });
  const session = await sessionOf(first);
  const said = await gateway.b.post<{ content: string }>(`/sessions/${session}/messages`, {
    content: 'Never mind',
  });
  expect([said.status, said.body.content]).toEqual([200, expect.stringContaining('told No result:')]);
  expect(await detailOf(session)).not.toHaveProperty('pending');
  const late = { ...asked, previous_response_id: first.id, input: outputsOf(first) };
  expect(await refusalOf(client.responses.create(late))).toMatchObject({
    status: 400,
    param: 'previous_response_id',
  });
});

test('outputs that come twice, also at once, are taken once', async () => {
  const first = await client.responses.create({ ...asked, input: 'call weather' });
  const next = { ...asked, previous_response_id: first.id, input: outputsOf(first) };
  const ends = await Promise.all(
    [1, 2, 3].map(() =>
      client.responses.create(next).then(
        () => 200,
        (error: unknown) => (error as { status: number }).status,
      ),
    ),
  );
  expect(ends.sort()).toEqual([200, 400, 400]);
});

test.each([
  ['for a call that was not made', () => [{ call_id: 'call_none', output: 'x' }]],
  ['for some calls only', (first: OpenAiResponse) => outputsOf(first).slice(0, 1)],
  ['twice for one call', (first: OpenAiResponse) => [...outputsOf(first), ...outputsOf(first)]],
])('outputs %s are refused by name, and the turn still waits', async (_how, outputs) => {
  const first = await client.responses.create({ ...asked, input: 'call weather and call weather' });
  const input = outputs(first).map((one) => ({ ...one, type: 'function_call_output' as const }));
  const wrong = client.responses.create({ ...asked, previous_response_id: first.id, input });
  expect(await refusalOf(wrong)).toMatchObject({ status: 400, param: 'input' });
  const right = { ...asked, previous_response_id: first.id, input: outputsOf(first) };
  expect((await client.responses.create(right)).output_text).toContain('told rain, rain');
});

test('a turn that failed with the outputs is tried again with them', async () => {
  const first = await client.responses.create({ ...asked, input: 'call weather' });
  const next = { ...asked, previous_response_id: first.id };
  const broken = [...outputsOf(first), { role: 'user' as const, content: 'break' }];
  expect((await refusalOf(client.responses.create({ ...next, input: broken }))).status).toBeGreaterThan(499);
  const again = await client.responses.create({ ...next, input: outputsOf(first) });
  expect(again.output_text).toContain('told rain');
});
