import { startTestGateway, type TestGateway } from '../harness/gateway.js';

interface Refusal {
  readonly error: {
    readonly message: string;
    readonly details: { readonly fields: readonly { path: string; message: string }[] };
  };
}

let gateway: TestGateway;
let sessionId: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  sessionId = (await gateway.a.post<{ session_id: string }>('/sessions', {})).body.session_id;
});
afterAll(() => gateway.stop());

/** What Profile B says about a body: `path: message` for each fault. */
async function faultsOf(path: string, body: object): Promise<string[]> {
  const { status, body: answer } = await gateway.b.post<Refusal>(path, body);
  expect(status).toBe(400);
  return answer.error.details.fields.map((field) => `${field.path}: ${field.message}`);
}

const unknownEvent = expect.stringMatching(
  /^events\.0: is not a known event; known: session\.created, /,
) as string;

test('a webhook: unknown fields, wrong types, unknown events, a secret that is none, a URL nobody may reach', async () => {
  const url = 'ftp://u:p@example.com';
  expect(
    await faultsOf('/hooks', { url, events: ['nope', 'session.created'], secret: 'x', more: 1 }),
  ).toEqual([
    'more: unknown field',
    'secret: must be a string of 8 to 256 characters',
    unknownEvent,
    expect.stringMatching(/^url: /),
  ]);
  expect(
    await faultsOf('/hooks', { url: 'http://10.0.0.1/', events: ['nope'], secret: 'whsec_@@@@' }),
  ).toEqual([
    unknownEvent,
    expect.stringMatching(/^secret: must be base64/),
    expect.stringMatching(/^url: /),
  ]);
  expect(await faultsOf('/hooks', { url: 7, events: 'all', secret: 'whsec_@@@@' })).toEqual([
    'url: must be a string of 1 to 2048 characters',
    'events: must be a list of strings',
    expect.stringMatching(/^secret: must be base64/),
  ]);
});

test('a session: an unknown channel beside a wrong type and an unknown field', async () => {
  const faults = await faultsOf('/sessions', { channel: 'nope', user_id: 7, more: 1 });
  expect(faults).toEqual([
    'more: unknown field',
    'user_id: must be a string of 1 to 256 characters',
    'channel: is not a configured channel; known: api',
  ]);
  const { body } = await gateway.a.post<{ error: { message: string } }>('/sessions', {
    channel: 'nope',
    user_id: 7,
  });
  expect(body.error.message).toBe(
    'user_id: must be a string of 1 to 256 characters; channel: is not a configured channel; known: api',
  );
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`more_${at}`, 1]));
  const answer = await gateway.a.post<{ error: { message: string } }>('/sessions', {
    ...many,
    channel: 'nope',
    user_id: 7,
  });
  expect(answer.body.error.message).toMatch(
    /^more_0: unknown field; .*; more_19: unknown field \(and 2 more\)$/,
  );
});

test('a message: what its parts lack beside what is wrong with them', async () => {
  const path = `/sessions/${sessionId}/messages`;
  expect(await faultsOf(path, { content: 5, attachments: 'all' })).toEqual([
    'content: must be a string of 0 to 262144 bytes',
    'attachments: must be a list',
  ]);
  const image = { type: 'image', mime_type: 'image/png' };
  const attachments = [
    image,
    { ...image, type: 'x', data: 'aGk=' },
    5,
    { ...image, data: 'aGk=', url: 'https://example.com' },
  ];
  expect((await faultsOf(path, { attachments })).sort()).toEqual([
    'attachments.0: must have exactly one of data and url',
    'attachments.1.type: must be one of image, file, audio, video',
    'attachments.2: must be an object',
    'attachments.3: must have exactly one of data and url',
  ]);
  expect(await faultsOf(path, { content: ' ', more: 1 })).toEqual([
    'more: unknown field',
    'content: must not be empty unless there are attachments',
  ]);
});

test('a body that is refused changes nothing', async () => {
  expect((await gateway.b.get<{ hooks: object[] }>('/hooks')).body.hooks).toEqual([]);
  expect((await gateway.b.get<{ total: number }>('/sessions')).body.total).toBe(1);
});
