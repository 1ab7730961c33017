import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RawAnswer } from '../contract/support/raw-connection.js';
import { severalAtOnce } from '../contract/support/several-at-once.js';
import { figure } from '../harness/figure.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { HOSTILE_BODIES } from './support/hostile-bodies.js';
import { expectRefusalAt, HostileGateway } from './support/hostile-gateway.js';
import { type Mutant, mutantsOf, SEED, sampled } from './support/mutants.js';

jest.setTimeout(600_000);

/** How many are drawn for each face. */
const DRAWN = 250;
const JSON_RPC = { accept: 'application/json, text/event-stream', 'a2a-version': '1.0' };
/** What a server of JSON-RPC says of itself when it failed. */
const INTERNAL_ERROR = -32_603;

interface Attack {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

let hostile: HostileGateway;
let receiver: HookReceiver;
let responseId: string;
let taskId: string;
let tried = 0;
beforeAll(async () => {
  receiver = await HookReceiver.open();
  hostile = await HostileGateway.start({ GATEWAY__PROVIDER__KIND: 'offline' });
  const response = await post('/v1/responses', { model: 'default', input: 'Hello' });
  responseId = (response.body as { id: string }).id;
  const task = await post('/a2a', rpc('SendMessage', { message: said() }));
  taskId = (task.body as { result: { task: { id: string } } }).result.task.id;
  await hostile.settle();
});
afterAll(async () => {
  await hostile.stop();
  await receiver.close();
  figure(['bad-input'], { faces: tried });
});

async function send({ method, path, headers, body }: Attack): Promise<RawAnswer> {
  const response = await fetch(new URL(path, hostile.gateway.b.base), {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...{ authorization: `Bearer ${hostile.gateway.token}`, ...headers },
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
  return {
    status: response.status,
    headers: new Map(response.headers),
    text,
    body: isJson ? (JSON.parse(text) as unknown) : undefined,
  };
}

const post = (path: string, body: object): Promise<RawAnswer> =>
  send({ what: '', method: 'POST', path, headers: JSON_RPC, body: JSON.stringify(body) });
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const said = () => ({ messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Hello' }] });

/** The error of an answer of JSON-RPC, also as the last event of a stream. */
function rpcError({ text }: RawAnswer): { code: number; message: string } | undefined {
  const data = text.includes('data: ') ? text.split('data: ').at(-1) : text;
  if (!data?.trimStart().startsWith('{')) return undefined;
  const { jsonrpc, error } = JSON.parse(data) as {
    jsonrpc?: string;
    error?: { code: number; message: string };
  };
  return jsonrpc === undefined ? undefined : error;
}

/** Whether it was refused. Throws for an answer that no face may give. */
async function isRefused(attack: Attack): Promise<boolean> {
  const answer = await send(attack);
  const { status, text } = answer;
  if (status >= 500 && (status < 502 || status > 504)) throw new Error(`${status}: ${text.slice(0, 300)}`);
  const error = /^\/(mcp|a2a)/.test(attack.path) ? rpcError(answer) : undefined;
  if (error !== undefined) {
    const isWhole = Number.isInteger(error.code) && typeof error.message === 'string' && error.message !== '';
    if (!isWhole || error.code === INTERNAL_ERROR) throw new Error(`${status}: ${text.slice(0, 300)}`);
    return true;
  }
  // A model that does not answer as it should was asked.
  if (status < 400 || status >= 500) return false;
  expectRefusalAt('b', attack.path, answer);
  return true;
}

/** Otherwise what is wrong within it would not be looked at. */
async function expectSound(path: string, ...bodies: object[]): Promise<void> {
  for (const body of bodies) {
    const { status, text } = await post(path, body);
    expect([path, status, /"error":[^n]/.test(text) ? text : 'no error']).toEqual([path, 200, 'no error']);
  }
}

/** All of them once; those that were refused once more, and then nothing has changed. */
async function attackAll(all: readonly Attack[]): Promise<void> {
  const failures: string[] = [];
  const refused: Attack[] = [];
  await severalAtOnce(all, async (attack) => {
    try {
      if (await isRefused(attack)) refused.push(attack);
    } catch (error) {
      failures.push(`${attack.method} ${attack.path}, ${attack.what}: ${String(error)}`);
    }
  });
  expect({ seed: SEED, failures }).toEqual({ seed: SEED, failures: [] });
  expect(refused.length).toBeGreaterThan(all.length / 4);
  await expectNoTrace(refused);
  tried += all.length;
}

/** The gateway forgets webhooks of tasks that are over, once a minute, which would be in the middle of what follows. */
async function forgetTaskHooks(): Promise<void> {
  const { database } = hostile.gateway;
  if ((await database.query('SELECT 1 FROM hooks WHERE message_id IS NOT NULL LIMIT 1')).length === 0) return;
  await database.query('DELETE FROM hook_deliveries');
  await database.query('DELETE FROM hooks WHERE message_id IS NOT NULL');
  await hostile.settle();
}

/** What was made by others meanwhile may have been asked for: those are left out. */
async function expectNoTrace(refused: readonly Attack[], rounds = 3): Promise<void> {
  await hostile.settle();
  await forgetTaskHooks();
  const again: Attack[] = [];
  await severalAtOnce(refused, async (attack) => (await isRefused(attack)) && again.push(attack));
  expect(rounds).toBeGreaterThan(0);
  if (again.length < refused.length) await expectNoTrace(again, rounds - 1);
  else await hostile.expectUnharmed();
}

const attacksOf = (path: string, sound: object, headers: Record<string, string> = {}): Attack[] =>
  mutantsOf(sound).map(({ what, text }: Mutant) => ({ what, method: 'POST', path, headers, body: text }));

const PICTURE = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a', 'hex').toString('base64')}`;
const schema = { type: 'object', properties: { city: { type: 'string' } } };
const shared = () => ({
  ...{ model: 'default', stream: false, temperature: 1, top_p: 1, parallel_tool_calls: true, user: 'ada' },
  ...{ service_tier: 'auto', top_logprobs: 0, prompt_cache_key: 'k', safety_identifier: 's', store: false },
});

/** Everything that a chat completion may have, at once. */
const CHAT = {
  ...shared(),
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hello' },
        { type: 'image_url', image_url: { url: PICTURE, detail: 'auto' } },
        { type: 'file', file: { file_data: 'aGVsbG8=', filename: 'a.txt' } },
      ],
    },
    {
      ...{ role: 'assistant', content: 'Let me see.', refusal: null },
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"x"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'Rain', name: 'weather' },
  ],
  tools: [
    { type: 'function', function: { name: 'weather', description: 'd', parameters: schema, strict: false } },
  ],
  tool_choice: { type: 'function', function: { name: 'weather' } },
  response_format: { type: 'text' },
  ...{ max_completion_tokens: 100, stop: ['x'], n: 1, stream_options: { include_usage: true } },
  ...{
    logprobs: false,
    frequency_penalty: 0,
    presence_penalty: 0,
    modalities: ['text'],
    verbosity: 'medium',
  },
};

const response = () => ({
  ...shared(),
  input: [
    {
      ...{ type: 'message', role: 'user', id: 'm', status: 'completed' },
      content: [
        { type: 'input_text', text: 'Hello' },
        { type: 'input_image', image_url: PICTURE, detail: 'auto' },
        { type: 'input_file', file_data: 'aGVsbG8=', filename: 'a.txt' },
      ],
    },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x', annotations: [] }] },
    { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}', id: 'f' },
    { type: 'function_call_output', call_id: 'c1', output: 'Rain' },
  ],
  ...{ instructions: 'Be brief.', background: false, metadata: { key: 'value' }, truncation: 'auto' },
  tools: [{ type: 'function', name: 'weather', description: 'd', parameters: schema, strict: false }],
  tool_choice: { type: 'function', name: 'weather' },
  ...{ max_output_tokens: 100, include: ['reasoning.encrypted_content'] },
  text: { format: { type: 'text' }, verbosity: 'medium' },
});

test("OpenAI's API: bodies", async () => {
  await expectSound('/v1/chat/completions', CHAT);
  await expectSound('/v1/responses', response());
  const attacks = [
    ...attacksOf('/v1/chat/completions', CHAT),
    ...attacksOf('/v1/responses', response()),
    ...attacksOf('/v1/chat/completions', {
      ...{ model: 'default', messages: [{ role: 'user', content: 'Hello' }] },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema, strict: true, description: 'd' },
      },
    }),
    ...attacksOf('/v1/responses', {
      ...{ model: 'default', input: 'Hello' },
      text: { format: { type: 'json_schema', name: 'n', schema, strict: true, description: 'd' } },
    }),
    ...attacksOf('/v1/responses', { model: 'default', input: 'Hello', previous_response_id: responseId }),
    ...attacksOf('/v1/responses', {
      ...{ model: 'default', previous_response_id: responseId },
      input: [{ type: 'item_reference', id: responseId }],
    }),
  ];
  await attackAll(sampled(attacks, DRAWN));
});

test('A2A: the envelope of JSON-RPC, and the parameters of each method', async () => {
  const push = {
    ...{ id: 'p', url: receiver.url(), token: 't' },
    authentication: { scheme: 'Bearer', credentials: 'c' },
  };
  const message = {
    ...{ ...said(), contextId: '', taskId: '', extensions: ['x'], referenceTaskIds: [taskId] },
    metadata: { agent: 'default' },
    parts: [
      { text: 'Hello', mediaType: 'text/plain', metadata: { a: 1 } },
      { data: { a: [1] } },
      { raw: 'aGVsbG8=', filename: 'a.txt', mediaType: 'text/plain' },
    ],
  };
  const configuration = {
    ...{ acceptedOutputModes: ['text/plain'], historyLength: 1, returnImmediately: true },
    taskPushNotificationConfig: push,
  };
  const list = {
    ...{ tenant: 'default', contextId: 'x', status: 'TASK_STATE_COMPLETED', pageSize: 10, pageToken: '' },
    ...{ historyLength: 1, statusTimestampAfter: '2026-01-31T12:00:00Z', includeArtifacts: true },
  };
  const methods: [string, object][] = [
    ...['SendMessage', 'SendStreamingMessage'].map((name): [string, object] => [
      name,
      { message, configuration, metadata: { a: 1 }, tenant: 'default' },
    ]),
    ...['GetTask', 'CancelTask', 'SubscribeToTask'].map((name): [string, object] => [
      name,
      { id: taskId, historyLength: 1, tenant: '' },
    ]),
    ['ListTasks', list],
    ['CreateTaskPushNotificationConfig', { ...push, taskId }],
    ...['Get', 'Delete'].map((name): [string, object] => [
      `${name}TaskPushNotificationConfig`,
      { taskId, id: 'p' },
    ]),
    ['ListTaskPushNotificationConfigs', { taskId, pageSize: 10, pageToken: '' }],
    ['GetExtendedAgentCard', { tenant: '' }],
  ];
  const attacks = methods.flatMap(([name, params]) => attacksOf('/a2a', rpc(name, params), JSON_RPC));
  const versions = ['', ' ', '0', '0.3', '1', '1.1', '99999999999', '1.0, 0.3', 'x'.repeat(2000), '\xff'].map(
    (version): Attack => ({
      ...{ what: `version ${version.slice(0, 20)}`, method: 'POST', path: '/a2a' },
      ...{ headers: { ...JSON_RPC, 'a2a-version': version }, body: JSON.stringify(rpc('ListTasks', {})) },
    }),
  );
  await attackAll([...sampled(attacks, DRAWN), ...versions]);
});

const client = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: {}, sampling: {} },
  clientInfo: { name: 'test', version: '1', title: 'Test' },
};

test('MCP: the envelope of JSON-RPC, the parameters of each method, and the headers of the protocol', async () => {
  const ask = { name: 'ask_default', arguments: { message: 'Hello', session_id: hostile.sessionId } };
  const methods: [string, object][] = [
    ['initialize', client],
    ['ping', {}],
    ['tools/list', { cursor: 'x', _meta: { progressToken: 1 } }],
    ['tools/call', { ...ask, _meta: { progressToken: 'p' } }],
    ['notifications/cancelled', { requestId: 1, reason: 'enough' }],
    ['notifications/progress', { progressToken: 1, progress: 1, total: 2, message: 'm' }],
  ];
  const attacks = methods.flatMap(([name, params]) => attacksOf('/mcp', rpc(name, params), JSON_RPC));
  const odd = [
    '',
    ' ',
    '0',
    '-1',
    '2024-11-05',
    '2026-07-28',
    '9999-99-99',
    'x'.repeat(2000),
    '\xff',
    '__proto__',
  ];
  const headers = [
    'mcp-session-id',
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
    'last-event-id',
  ].flatMap((name) =>
    odd.flatMap((value): Attack[] => {
      const sent = {
        what: `${name} ${value.slice(0, 20)}`,
        path: '/mcp',
        headers: { ...JSON_RPC, [name]: value },
      };
      return [
        { ...sent, method: 'POST', body: JSON.stringify(rpc('tools/list', {})) },
        { ...sent, method: 'GET', headers: { accept: 'text/event-stream', [name]: value } },
      ];
    }),
  );
  await attackAll([...sampled(attacks, DRAWN), ...headers]);
});

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { examples: Record<string, { value: object }> }>>;
  };
}
const ADMIN = JSON.parse(readFileSync('docs/admin.openapi.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

/** Every operation of the operators' API, of something that there is not. */
const operations = () =>
  Object.entries(ADMIN.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, 'nothing'), operation },
    })),
  );

test("the operators' API: every body that its document has an example of", async () => {
  const attacks = operations().flatMap(({ path, operation }) => {
    const examples = Object.values(operation.requestBody?.content['application/json']?.examples ?? {});
    return examples.flatMap(({ value }) => attacksOf(path, value));
  });
  expect(attacks.length).toBeGreaterThan(1000);
  await attackAll(sampled(attacks, DRAWN));
});

const ODD = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    '0x10',
    '9007199254740993',
    '9'.repeat(400),
    'null',
    'true',
    '[]',
    '{}',
    '*',
    '%',
  ],
  ...[
    "' OR 1=1 --",
    '\0',
    '\ud83d\ude00',
    '\u202e',
    '__proto__',
    'constructor',
    'x'.repeat(3000),
    '../..',
    '1970-01-01',
  ],
  ...[
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '+275760-09-13T00:00:00.001Z',
    '-1h',
    '99999999d',
    '1970',
    'P1D',
  ],
];

test("queries of the operators' API and of OpenAI's: every parameter, odd, twice, as a list and as an object", async () => {
  const named = operations()
    .filter(({ method }) => method === 'GET')
    .map(({ path, operation: { parameters = [] } }): [string, string[]] => [
      path,
      parameters.filter((one) => one.in === 'query').map(({ name }) => name),
    ]);
  const all: [string, string[]][] = [
    ...named,
    ['/v1/models', ['limit', 'after']],
    [`/v1/responses/${responseId}`, ['stream', 'starting_after', 'include_obfuscation', 'include']],
    [`/v1/responses/${responseId}/input_items`, ['limit', 'order', 'after', 'before', 'include']],
  ];
  const attacks = all.flatMap(([path, names]) =>
    names.flatMap((name) =>
      ODD.flatMap((value) => {
        const text = encodeURIComponent(value);
        const queries = [
          `${name}=${text}`,
          `${name}=1&${name}=${text}`,
          `${name}[]=${text}`,
          `${name}[__proto__]=${text}`,
        ];
        return queries.map((query): Attack => ({ what: 'a query', method: 'GET', path: `${path}?${query}` }));
      }),
    ),
  );
  await attackAll(sampled(attacks, 2 * DRAWN));
});

test('bodies that no route takes are refused by every route of every face that takes a body', async () => {
  const paths = [
    ...operations().flatMap(({ path, operation }) => (operation.requestBody === undefined ? [] : [path])),
    ...['/v1/chat/completions', '/v1/responses', '/mcp', '/a2a'],
  ];
  const attacks = [...new Set(paths)].flatMap((path) =>
    HOSTILE_BODIES.flatMap(({ what, bodies, headers = {} }) =>
      bodies
        .filter((body) => body.length < 100_000)
        .map(
          (body): Attack => ({
            what,
            method: 'POST',
            path,
            headers: { ...JSON_RPC, ...lower(headers) },
            body,
          }),
        ),
    ),
  );
  await attackAll(sampled(attacks, DRAWN));
});

const lower = (headers: object): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
