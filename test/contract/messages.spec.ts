import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { expectError } from './support/envelope.js';
import {
  type HistoryWire,
  ISO_UTC,
  type MessageWire,
  newSession,
  PROFILES,
  say,
  sortedKeys,
  type Wire,
} from './support/faces.js';

/** A user's message has the fields of the table. An answer also says why it ended, which is an addition within v1. */
const SAID = ['content', 'message_id', 'model', 'role', 'tokens_used', 'tool_calls'];
const ANSWER = [...SAID, 'finish_reason'].sort();
const ITEMS = [SAID, ANSWER].map((fields) => [...fields, 'attachments', 'created_at'].sort());
const TOOL_CALL = ['arguments', 'duration_ms', 'id', 'name', 'output', 'status'];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__AGENT__TOOL_TIMEOUT_MS: '200' } });
  const tool = { description: 'For tests.', inputSchema: { type: 'object', additionalProperties: true } };
  gateway.tools.register({ ...tool, name: 'echo', run: async (args) => JSON.stringify(args) });
  gateway.tools.register({ ...tool, name: 'flood', run: async () => '€'.repeat(20_000) });
  gateway.tools.register({
    ...tool,
    name: 'fail',
    run: () => Promise.reject(new Error('the tool is out of order')),
  });
  gateway.tools.register({ ...tool, name: 'hang', run: () => new Promise(() => undefined) });
});
afterAll(() => gateway.stop());

async function historyOf(id: string, query = ''): Promise<HistoryWire> {
  const { status, body } = await gateway.a.get<HistoryWire>(`/sessions/${id}/messages${query}`);
  expect(status).toBe(200);
  return body;
}

describe.each([
  [
    '4.1 | POST | /sessions/:id/messages | JSON body: content, attachments | 200; message response (2.2)',
    'a',
  ],
  ['the same in Profile B, as an extension', 'b'],
] as const)('%s', (_row, profile) => {
  test('200; message response (2.2): exactly the fields of the table', async () => {
    const id = await newSession(gateway[profile]);
    const message = { content: 'Hello', attachments: [attachment()] };
    const { status, body } = await gateway[profile].post<MessageWire>(`/sessions/${id}/messages`, message);
    expect(status).toBe(200);
    expect(sortedKeys(body)).toEqual(ANSWER);
    expect(body.message_id).toMatch(/^msg_[0-9a-z]{26}$/);
    expect(body).toMatchObject({ role: 'assistant', tool_calls: [] });
    expect([typeof body.content, typeof body.model, Number.isInteger(body.tokens_used)]).toEqual([
      'string',
      'string',
      true,
    ]);
    expect(body.content).not.toBe('');
    expect(body.tokens_used).toBeGreaterThan(0);
  });

  test('the answer is the last message of the history', async () => {
    const id = await newSession(gateway[profile]);
    const { body } = await say(gateway[profile], id, 'Hello');
    const { messages } = await historyOf(id);
    expect(messages[1]).toEqual({ ...body, created_at: messages[1]?.created_at, attachments: [] });
  });

  test.each<[string, unknown]>([
    ['content is missing', {}],
    ['content is empty', { content: '' }],
    ['content is blank', { content: ' \n\t' }],
    ['content is null', { content: null }],
    ['content is no string', { content: ['Hello'] }],
    ['content has more than 256 KiB', { content: 'x'.repeat(262_145) }],
    ['attachments is no array', { content: 'x', attachments: {} }],
    ['attachments is null', { content: 'x', attachments: null }],
    ['there are more than 10 attachments', { content: 'x', attachments: Array(11).fill(attachment()) }],
    ['an attachment is no object', { content: 'x', attachments: ['image'] }],
    ['an attachment is null', { content: 'x', attachments: [null] }],
    ['an attachment is an array', { content: 'x', attachments: [[]] }],
    ['an attachment has an unknown type', { content: 'x', attachments: [attachment({ type: 'video3d' })] }],
    [
      'an attachment has no media type',
      { content: 'x', attachments: [attachment({ mime_type: undefined })] },
    ],
    [
      'an attachment has a wrong media type',
      { content: 'x', attachments: [attachment({ mime_type: 'png' })] },
    ],
    [
      'an attachment has neither data nor url',
      { content: 'x', attachments: [attachment({ data: undefined })] },
    ],
    [
      'an attachment has both data and url',
      { content: 'x', attachments: [attachment({ url: 'https://a.test/x' })] },
    ],
    ['an attachment has an empty data', { content: 'x', attachments: [attachment({ data: '' })] }],
    ['an attachment is not base64', { content: 'x', attachments: [attachment({ data: 'a$b=' })] }],
    ['an attachment has base64 without padding', { content: 'x', attachments: [attachment({ data: 'YQ' })] }],
    [
      'an attachment has a name of 129 characters',
      { content: 'x', attachments: [attachment({ name: 'n'.repeat(129) })] },
    ],
    ['an attachment has an unknown field', { content: 'x', attachments: [attachment({ colour: 'red' })] }],
    [
      'an attachment has a field that every object has',
      { content: 'x', attachments: [attachment({ toString: 'red' })] },
    ],
    [
      'an attachment is to be fetched, which is off by default',
      { content: 'x', attachments: [attachment({ data: undefined, url: 'https://example.test/x.png' })] },
    ],
    ['there is an unknown field', { content: 'x', role: 'system' }],
  ])('400 | %s | nothing is stored', async (_what, body) => {
    const id = await newSession(gateway[profile]);
    expectError(profile, await gateway[profile].post(`/sessions/${id}/messages`, body), 400, 'bad_request');
    expect(await historyOf(id)).toEqual({ messages: [], has_more: false });
  });

  test('content of 256 KiB is taken as it is, whatever it says', async () => {
    const id = await newSession(gateway[profile]);
    const content = `\u2028<script>"' \\ 🜁 ${'x'.repeat(262_144 - 25)}`;
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(262_144);
    expect((await say(gateway[profile], id, content)).status).toBe(200);
    expect((await historyOf(id)).messages[0]?.content).toBe(content);
  });
});

function attachment(changes: Wire = {}): Wire {
  return { type: 'image', mime_type: 'image/png', name: 'dot.png', data: 'aGVsbG8=', ...changes };
}

test('2.2 | attachments | array of Attachment | replies and history carry id, type, name, mime_type, size_bytes, never the data', async () => {
  const id = await newSession(gateway.b);
  const answer = await gateway.b.post<Wire>(`/sessions/${id}/messages`, {
    attachments: [attachment(), { type: 'file', mime_type: 'text/plain', data: 'c2VjcmV0IGJ5dGVz' }],
  });
  expect(answer.status).toBe(200);
  expect(answer.text).not.toContain('aGVsbG8=');
  const history = await gateway.b.get<HistoryWire>(`/sessions/${id}/messages`);
  expect(history.text).not.toContain('aGVsbG8=');
  expect(history.text).not.toContain('c2VjcmV0IGJ5dGVz');
  const attached = expect.stringMatching(/^att_[0-9a-z]{26}$/) as unknown;
  expect(history.body.messages[0]?.attachments).toEqual([
    { id: attached, type: 'image', name: 'dot.png', mime_type: 'image/png', size_bytes: 5 },
    { id: attached, type: 'file', name: null, mime_type: 'text/plain', size_bytes: 12 },
  ]);
  expect(history.body.messages[0]?.content).toBe('');
});

test('2.2 | attachments | 20 MiB decoded in all fit, one byte more is 400', async () => {
  const id = await newSession(gateway.a);
  const half = (bytes: number) => attachment({ data: Buffer.alloc(bytes).toString('base64') });
  const send = (...sizes: number[]) =>
    gateway.a.post(`/sessions/${id}/messages`, { content: 'big', attachments: sizes.map(half) });
  expectError('a', await send(10_485_760, 10_485_761), 400, 'bad_request');
  expect((await send(10_485_760, 10_485_760)).status).toBe(200);
  expect((await historyOf(id)).messages[0]?.attachments.map((one) => one['size_bytes'])).toEqual([
    10_485_760, 10_485_760,
  ]);
});

test('2.2 | tool_calls | array | every call of the turn with id, name, arguments, status, output, duration_ms', async () => {
  const id = await newSession(gateway.a);
  const { body } = await say(
    gateway.a,
    id,
    '/call echo {"text":"hi","__proto__":{"x":1}}\n/call fail {}\n/call hang {}',
  );
  expect(body.tool_calls.map(sortedKeys)).toEqual([TOOL_CALL, TOOL_CALL, TOOL_CALL]);
  const [echo, fail, hang] = body.tool_calls;
  expect(echo).toMatchObject({ name: 'echo', status: 'success' });
  expect(JSON.stringify(echo?.['arguments'])).toBe('{"text":"hi","__proto__":{"x":1}}');
  expect(echo?.['output']).toBe('{"text":"hi","__proto__":{"x":1}}');
  expect(fail).toMatchObject({
    name: 'fail',
    status: 'error',
    output: 'the tool is out of order',
    arguments: {},
  });
  expect(hang).toMatchObject({ name: 'hang', status: 'timeout' });
  expect(hang?.['duration_ms']).toBeGreaterThanOrEqual(190);
  expect(new Set(body.tool_calls.map((call) => call['id'])).size).toBe(3);
  expect((await historyOf(id)).messages[1]?.tool_calls).toEqual(body.tool_calls);
});

test('2.2 | tool_calls | output is cut at 16 KiB with a mark, between two characters', async () => {
  const id = await newSession(gateway.b);
  const { body } = await say(gateway.b, id, '/call flood {}');
  const output = String(body.tool_calls[0]?.['output']);
  expect(output).toMatch(/^€+\n\[cut: 60000 bytes in all\]$/);
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(16_384 + 40);
});

test('Turns: agent.max_tool_calls_per_turn (10) | calls past it get an error result and the model answers without tools', async () => {
  const id = await newSession(gateway.a);
  const { status, body } = await say(gateway.a, id, Array(12).fill('/call echo {}').join('\n'));
  expect(status).toBe(200);
  expect(body.tool_calls.map((call) => call['status'])).toEqual([
    ...Array<string>(10).fill('success'),
    'denied',
    'denied',
  ]);
});

describe('4.1 | GET | /sessions/:id/messages | query: limit (usize, default 100), before (String, a message id; returns messages before it) | 200; body shape not shown', () => {
  let id: string;
  const contents = Array.from({ length: 6 }, (_, i) => `message ${i}`);
  beforeAll(async () => {
    id = await newSession(gateway.a);
    for (const content of contents) await say(gateway.a, id, content);
  });

  test('200; messages and has_more, each message with exactly the decided fields, the same in both profiles', async () => {
    const answers = await Promise.all(
      PROFILES.map((profile) => gateway[profile].get<HistoryWire>(`/sessions/${id}/messages`)),
    );
    for (const { status, body } of answers) {
      expect([status, sortedKeys(body)]).toEqual([200, ['has_more', 'messages']]);
      expect(body.messages.map(sortedKeys)).toEqual(contents.flatMap(() => ITEMS));
    }
    expect(answers[0]?.body).toEqual(answers[1]?.body);
  });

  test('oldest first, user and assistant in turn, created_at never decreasing', async () => {
    const { messages, has_more } = await historyOf(id);
    expect(messages.map(({ role }) => role)).toEqual(contents.flatMap(() => ['user', 'assistant']));
    expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(contents);
    const times = messages.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort());
    for (const time of times) expect(time).toMatch(ISO_UTC);
    expect(has_more).toBe(false);
  });

  test('what a user wrote has no model, no tokens and no tool calls', async () => {
    const { messages } = await historyOf(id);
    expect(messages[0]).toMatchObject({
      role: 'user',
      model: null,
      tokens_used: 0,
      tool_calls: [],
      attachments: [],
    });
  });

  test('limit, before | the newest messages before it, page by page to the beginning', async () => {
    const whole = (await historyOf(id)).messages;
    expect((await historyOf(id, '?limit=5')).messages).toEqual(whole.slice(-5));
    const pages: HistoryWire[] = [await historyOf(id, '?limit=5')];
    while (pages[0]?.has_more === true && pages.length < 10) {
      pages.unshift(await historyOf(id, `?limit=5&before=${pages[0].messages[0]?.message_id}`));
    }
    expect(pages.map(({ messages }) => messages.length)).toEqual([2, 5, 5]);
    expect(pages.flatMap(({ messages }) => messages)).toEqual(whole);
  });

  test('has_more | false when the page ends exactly at the beginning', async () => {
    expect((await historyOf(id, '?limit=12')).has_more).toBe(false);
    expect((await historyOf(id, '?limit=11')).has_more).toBe(true);
    const { messages } = await historyOf(id, '?limit=7');
    expect(await historyOf(id, `?limit=5&before=${messages[0]?.message_id}`)).toMatchObject({
      has_more: false,
    });
  });

  test('before | the first message | an empty page; limit=0 | an empty page', async () => {
    const [first] = (await historyOf(id)).messages;
    expect(await historyOf(id, `?before=${first?.message_id}`)).toEqual({ messages: [], has_more: false });
    expect((await historyOf(id, '?limit=0')).messages).toEqual([]);
  });

  test('limit (usize, default 100); above 500 is served as 500', async () => {
    const long = await newSession(gateway.a);
    await gateway.database.query(
      `INSERT INTO messages (id, session_id, turn_id, seq, role, content, attachments)
       SELECT 'msg_' || lpad(n::text, 26, '0'), $1, 'turn', n, 'user', n::text, '[]' FROM generate_series(1, 600) n`,
      [long],
    );
    for (const [query, length] of [
      ['', 100],
      ['?limit=500', 500],
      ['?limit=100000', 500],
    ] as const) {
      const { messages, has_more } = await historyOf(long, query);
      expect([messages.length, messages.at(-1)?.content, has_more]).toEqual([length, '600', true]);
    }
  });

  test.each(PROFILES)(
    'before | unknown, of another session, or no id at all | 400 in Profile %s',
    async (profile) => {
      const other = await newSession(gateway.a);
      const { body } = await say(gateway.a, other, 'Elsewhere');
      for (const before of [
        body.message_id,
        'msg_01jd8v3q5ze0psx2w9t6m4k7ah',
        id,
        'x',
        '',
        '%20',
        'a&before=b',
      ]) {
        const answer = await gateway[profile].get(`/sessions/${id}/messages?before=${before}`);
        expectError(profile, answer, 400, 'bad_request');
      }
      for (const query of ['limit=-1', 'limit=abc', 'limit=1&limit=1', 'offset=1', 'limit=9007199254740992'])
        expectError(
          profile,
          await gateway[profile].get(`/sessions/${id}/messages?${query}`),
          400,
          'bad_request',
        );
    },
  );
});

test('a message of a session that does not exist is 404, but a wrong message is 400 first', async () => {
  const path = '/sessions/sess_01jd8v3q5ze0psx2w9t6m4k7ah/messages';
  expectError('b', await gateway.b.post(path, { content: 'x' }), 404, 'not_found');
  expectError('b', await gateway.b.post(path, { content: 1 }), 400, 'bad_request');
  expectError('b', await gateway.b.get(`${path}?limit=x`), 400, 'bad_request');
});
