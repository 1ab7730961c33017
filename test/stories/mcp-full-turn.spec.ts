import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, published, scripted, serverB, type ToolCallView } from '../harness/mcp.js';
import { SocketClient } from '../harness/socket-client.js';

const KINDS = ['offline', 'openai', 'anthropic'] as const;
type Kind = (typeof KINDS)[number];

interface Answer {
  readonly content: string;
  readonly tool_calls: readonly ToolCallView[];
}

const WORD = 'The word is heliotrope.';
let model: LLMock;
let files: string;
let bench: McpBench;
let gateway: TestGateway;

/** Two calls. The first ends only after the second has run, so the turn fails unless they run in parallel. */
const calls = (path: string) => [
  { name: 'waiter__await', arguments: { text: path } },
  { name: 'files__write_file', arguments: { path, content: WORD } },
];

/** A model that makes both calls, and then repeats their results. */
function script(): void {
  model.addFixture({
    match: { predicate: ({ messages }) => messages.at(-1)?.role === 'tool' },
    response: ({ messages }) => ({
      content: `I read: ${messages
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
        .join(' and ')}`,
    }),
  });
  model.addFixture({
    match: { predicate: ({ messages }) => messages.at(-1)?.role === 'user' },
    response: ({ messages }) => {
      const { content } = messages.at(-1) ?? {};
      const path = /\S+\.txt/.exec(typeof content === 'string' ? content : JSON.stringify(content))?.[0];
      return {
        toolCalls: calls(path ?? '').map(({ name, arguments: args }) => ({
          name,
          arguments: JSON.stringify(args),
        })),
      };
    },
  });
}

const providerTable = (kind: Kind): string =>
  kind === 'offline'
    ? '[provider]\nkind = "offline"\n'
    : `[provider]\nkind = "${kind}"\nmodel = "m"\napi_key = "key-1234"\nbase_url = "${model.url}${kind === 'openai' ? '/v1' : ''}"\n`;

const request = (kind: Kind, path: string): string =>
  kind === 'offline'
    ? calls(path)
        .map(({ name, arguments: args }) => `/call ${name} ${JSON.stringify(args)}`)
        .join('\n')
    : `write the word to ${path} and read it`;

async function newSession(profile: 'a' | 'b'): Promise<string> {
  const { body } = await gateway[profile].post<{ id?: string; session_id?: string }>('/sessions', {});
  return body.session_id ?? body.id ?? '';
}

async function overHttp(profile: 'a' | 'b', content: string): Promise<Answer> {
  const path = `/sessions/${await newSession(profile)}/messages`;
  const { status, body } = await gateway[profile].post<Answer>(path, { content });
  expect(status).toBe(200);
  return body;
}

async function overWebSocket(profile: 'a' | 'b', content: string): Promise<Answer> {
  const id = await newSession(profile);
  const client = await SocketClient.open(
    `ws://127.0.0.1:${gateway.started.ports[profile]}/ws/sessions/${id}`,
    { headers: { authorization: `Bearer ${gateway.token}` } },
  );
  try {
    client.send({ type: 'message', content });
    const done = await client.until('done');
    const kinds = client.frames.map(({ type }) => type).filter((type) => type.startsWith('tool_'));
    expect(kinds).toEqual(['tool_call', 'tool_call', 'tool_result', 'tool_result']);
    return done as unknown as Answer;
  } finally {
    client.socket.terminate();
  }
}

describe.each(KINDS)('a turn with the %s model', (kind) => {
  beforeAll(async () => {
    model = new LLMock({ port: 0 });
    await model.start();
    script();
    bench = await McpBench.make({});
    files = join(bench.folder, 'files');
    await mkdir(files);
    await bench.write(
      {
        files: { ...published('filesystem', [files]), writable_paths: [files] },
        waiter: { ...scripted(`full-${kind}-${process.pid}`), writable_paths: [files] },
      },
      `${providerTable(kind)}[agent]\ntool_timeout_ms = 10000\n`,
    );
    gateway = await startTestGateway({ env: bench.env });
    for (const name of ['files', 'waiter']) {
      await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 20_000);
    }
  });
  afterAll(async () => {
    await gateway.stop();
    await model.stop();
    await bench.clear();
  });

  test.each([
    ['Profile A', overHttp, 'a'],
    ['Profile B', overHttp, 'b'],
    ['the WebSocket of Profile A', overWebSocket, 'a'],
    ['the WebSocket of Profile B', overWebSocket, 'b'],
  ] as const)('calls two tools of two servers side by side and uses both answers: %s', async (_, say, on) => {
    const path = join(files, `${say.name}-${on}.txt`);
    const { content, tool_calls: made } = await say(on, request(kind, path));
    expect(made.map(({ name, status }) => [name, status])).toEqual([
      ['waiter__await', 'success'],
      ['files__write_file', 'success'],
    ]);
    expect(content).toContain(WORD);
    expect(content).toContain('Successfully wrote');
  });
});
