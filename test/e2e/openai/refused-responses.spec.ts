import type OpenAI from 'openai';
import { Client } from 'pg';
import { TurnRecords } from '../../../src/areas/live/live.api.js';
import { MessagesService } from '../../../src/areas/sessions/sessions.api.js';
import { SessionEnded } from '../../../src/areas/turns/turns.api.js';
import { BadRequest } from '../../../src/common/errors/gateway-error.js';
import { eventually } from '../../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../../harness/gateway.js';
import type { JudgingModel } from '../../harness/judging-model.js';
import { lockWaits } from '../../harness/lock-waits.js';
import { openAiClient, outputsOf, refusalOf, startEchoModel } from '../../harness/openai-face.js';

let model: JudgingModel;
let gateway: TestGateway;
let admin: OpenAI;
let client: OpenAI;
let release: () => void = () => undefined;
beforeAll(async () => {
  model = await startEchoModel();
  gateway = await startTestGateway({ env: { ...model.env, GATEWAY__AGENT__MAX_WAIT_MS: '1000' } });
  gateway.tools.register({
    name: 'hold',
    description: 'Waits until the test lets go.',
    inputSchema: { type: 'object' },
    run: () =>
      new Promise((resolve) => {
        release = () => resolve('held');
      }),
  });
  admin = openAiClient(gateway);
  client = openAiClient(gateway, await gateway.mint({ name: 'narrow' }));
  const set = await gateway.b.patch('/config', { 'limits.api_tokens.narrow.turns': 1 });
  expect(set.status).toBe(200);
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
});

const agent = { model: 'default' };
const weather = {
  ...{ type: 'function' as const, name: 'weather', strict: false },
  parameters: { type: 'object', properties: {} },
};
const limited = { status: 429, code: 'api_token_turns' };

/** Uses the only turn that the token may have. */
async function holding(): Promise<() => Promise<unknown>> {
  const held = release;
  const answer = client.responses.create({ ...agent, input: 'call hold' });
  await eventually(() => expect(release).not.toBe(held));
  return () => {
    release();
    return answer;
  };
}

test('a request that the limit of turns refuses leaves nothing of its conversation', async () => {
  const letGo = await holding();
  const marker = 'a-word-that-is-nowhere';
  const input = [
    { role: 'user' as const, content: `${marker} one` },
    { role: 'assistant' as const, content: `${marker} two` },
    { role: 'user' as const, content: `${marker} three` },
  ];
  expect(await refusalOf(client.responses.create({ ...agent, input }))).toMatchObject(limited);
  const left = await gateway.database.query('SELECT id FROM messages WHERE content LIKE $1', [`%${marker}%`]);
  expect(left).toEqual([]);
  const live = await gateway.database.query(
    "SELECT id FROM sessions WHERE status <> 'terminated' AND turn_count = 0",
  );
  expect(live).toEqual([]);
  await letGo();
});

test('outputs of a request that is refused at its limit are no answers: others can be sent', async () => {
  const first = await client.responses.create({ ...agent, tools: [weather], input: 'call weather' });
  const next = { ...agent, tools: [weather], previous_response_id: first.id };
  const letGo = await holding();
  expect(await refusalOf(client.responses.create({ ...next, input: outputsOf(first) }))).toMatchObject(
    limited,
  );
  await letGo();
  expect((await client.responses.inputItems.list(first.id)).data).toHaveLength(1);
  const second = await client.responses.create({ ...next, input: outputsOf(first, 'snow') });
  expect(second.output_text).toContain('told snow');
});

test('a request that is refused before it stored its outputs takes back none that another one stored', async () => {
  const first = await client.responses.create({ ...agent, tools: [weather], input: 'call weather' });
  const next = { ...agent, tools: [weather], previous_response_id: first.id };
  const letGo = await holding();
  let refuse = (): void => undefined;
  const fetched = new Promise<void>((resolve) => (refuse = resolve));
  // Like a picture that takes long to fetch and then is not a picture.
  const start = jest
    .spyOn(gateway.started.app.get(MessagesService, { strict: false }), 'start')
    .mockImplementationOnce(async () => {
      await fetched;
      throw new BadRequest('attachments: it is no picture.');
    });
  const refused = refusalOf(client.responses.create({ ...next, input: outputsOf(first, 'snow') }));
  await eventually(() => expect(start).toHaveBeenCalled());
  const queued = await client.responses.create({ ...next, input: outputsOf(first), background: true });
  expect(queued.status).toBe('queued');
  refuse();
  expect(await refused).toMatchObject({ status: 400 });
  await letGo();
  await eventually(async () => {
    expect((await client.responses.retrieve(queued.id)).output_text).toContain('told rain');
  });
});

test('more pictures and files than a hundred are refused by name', async () => {
  const picture = {
    type: 'input_image' as const,
    detail: 'auto' as const,
    image_url: 'data:image/png;base64,AAAA',
  };
  const input = (length: number) => [
    { role: 'user' as const, content: Array.from({ length }, () => picture) },
  ];
  expect((await admin.responses.create({ ...agent, input: input(100) })).status).toBe('completed');
  const refused = await refusalOf(admin.responses.create({ ...agent, input: input(101) }));
  expect(refused).toMatchObject({ status: 400, param: 'input' });
});

test('a picture that may not be fetched is refused where the caller named it', async () => {
  const url = 'http://169.254.0.1/x.png';
  const asked = admin.chat.completions.create({
    ...agent,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ],
  });
  expect(await refusalOf(asked)).toMatchObject({
    status: 400,
    param: 'messages[0].content[1].image_url.url',
  });
});

test('outputs of a completion that goes on with a session are taken back as well', async () => {
  const session = (await gateway.b.post<{ id: string }>('/sessions', {})).body.id;
  const tools = [
    { type: 'function' as const, function: { name: 'weather', parameters: weather.parameters } },
  ];
  const asked = { ...agent, tools, metadata: { session_id: session } };
  const user = { role: 'user' as const, content: 'call weather' };
  const { message } = (await client.chat.completions.create({ ...asked, messages: [user] })).choices[0]!;
  const told = (content: string) => ({
    ...asked,
    messages: [message, { role: 'tool' as const, tool_call_id: message.tool_calls![0]!.id, content }],
  });
  const letGo = await holding();
  expect(await refusalOf(client.chat.completions.create(told('rain')))).toMatchObject(limited);
  await letGo();
  const again = await client.chat.completions.create(told('snow'));
  expect(again.choices[0]!.message.content).toContain('told snow');
});

describe('DELETE and a response that goes on with the same one come one after the other', () => {
  async function racing(order: 'deleted first' | 'continued first') {
    const first = await admin.responses.create({ ...agent, input: 'One' });
    const [row] = await gateway.database.query<{ session_id: string }>(
      'SELECT session_id FROM turns WHERE id = $1',
      [first.id.replace('resp_', 'turn_')],
    );
    const holder = new Client({ connectionString: gateway.database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE', [row!.session_id]);
    const goOn = () =>
      admin.responses.create({ ...agent, input: 'Two', previous_response_id: first.id }).then(
        ({ output_text: text }) => text,
        (error: unknown) => (error as { code: string }).code,
      );
    const forget = () => admin.responses.delete(first.id);
    const begun: Promise<unknown>[] = [];
    for (const [index, one] of (order === 'deleted first' ? [forget, goOn] : [goOn, forget]).entries()) {
      begun.push(one());
      await lockWaits(gateway.database, index + 1);
    }
    await holder.query('COMMIT');
    await holder.end();
    const ends = await Promise.all(begun);
    const [{ status }] = (await gateway.database.query<{ status: string }>(
      'SELECT status FROM sessions WHERE id = $1',
      [row!.session_id],
    )) as [{ status: string }];
    return { said: order === 'deleted first' ? ends[1] : ends[0], status };
  }

  test('who goes on first is answered, and the session lives', async () => {
    const { said, status } = await racing('continued first');
    expect([said, status]).toEqual(['3 messages, the last: Two', 'active']);
  });

  test('who comes after it was deleted is refused by name', async () => {
    const { said, status } = await racing('deleted first');
    expect([said, status]).toEqual(['previous_response_not_found', 'terminated']);
  });
});

test('a session that ends with its last response is reported as that response; one that ended otherwise, as itself', async () => {
  const start = (ends: () => Promise<unknown>) =>
    jest
      .spyOn(gateway.started.app.get(MessagesService, { strict: false }), 'start')
      .mockImplementationOnce(async () => {
        await ends();
        throw new SessionEnded();
      });
  const goOn = (id: string) =>
    refusalOf(admin.responses.create({ ...agent, input: 'Two', previous_response_id: id }));
  const [one, other] = [
    await admin.responses.create({ ...agent, input: 'One' }),
    await admin.responses.create({ ...agent, input: 'One' }),
  ];
  start(() => admin.responses.delete(one.id));
  expect(await goOn(one.id)).toMatchObject({ code: 'previous_response_not_found' });
  start(() => Promise.resolve());
  expect(await goOn(other.id)).toMatchObject({ status: 409, code: 'session_ended' });
});

test('`background` with `stream` of a response that is gone in the next moment is 404, not a silence', async () => {
  const records = gateway.started.app.get(TurnRecords, { strict: false });
  const gone = jest.spyOn(records, 'find').mockResolvedValueOnce(undefined);
  const asked = { ...agent, input: 'Hi', background: true, stream: true } as const;
  expect(await refusalOf(admin.responses.create(asked, { timeout: 5000 }))).toMatchObject({
    ...{ status: 404, code: 'response_not_found' },
  });
  gone.mockRestore();
});
