import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { LLMock } from '@copilotkit/aimock';
import { expectError } from '../contract/support/envelope.js';
import { type HistoryWire, newSession, type Wire } from '../contract/support/faces.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { answerWith, wires } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { hostileHosts } from './support/hostile-hosts.js';

/**
 * docs/specification/silences.md, Messages: "`url` is fetched only when `multimodal.allow_remote_fetch` is on, and through the outbound
 * guard"; "at most 10, 20 MiB decoded in all".
 */
const ALLOWED = '127.0.0.77';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let files: Server;
let inside: Server;
let reachedInside = 0;
let asked: { url: string; headers: NodeJS.Dict<string | string[]> }[] = [];
let answer: (response: ServerResponse, url: string) => void;
let provider: ScriptedProvider;

beforeAll(async () => {
  files = createServer((request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers });
    answer(response, request.url ?? '');
  });
  await new Promise<void>((resolve) => files.listen(0, ALLOWED, resolve));
  inside = createServer((_request, response) => response.end('secret'));
  inside.on('connection', () => {
    reachedInside += 1;
  });
  await new Promise<void>((resolve) => inside.listen(0, '0.0.0.0', resolve));
  provider = await startScriptedProvider();
});
beforeEach(() => {
  asked = [];
  answer = (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG);
});
afterAll(async () => {
  files.closeAllConnections();
  files.close();
  inside.close();
  await provider.stop();
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const url = (path = '/picture.png') => `http://${ALLOWED}:${portOf(files)}${path}`;
const remote = (changes: Wire = {}): Wire => ({
  type: 'image',
  mime_type: 'image/png',
  url: url(),
  ...changes,
});

/** Long enough for 10 MiB on a busy machine. */
const FETCH_MS = 4000;
const guarded = {
  GATEWAY__MULTIMODAL__ALLOW_REMOTE_FETCH: 'true',
  GATEWAY__MULTIMODAL__FETCH_TIMEOUT_MS: String(FETCH_MS),
  GATEWAY__SECURITY__ALLOW_LOOPBACK: 'never',
  GATEWAY__SECURITY__ALLOW_PRIVATE_NETWORKS: `${ALLOWED}/32`,
  GATEWAY__PROVIDER__API_KEY: 'key-of-nobody-1234',
  GATEWAY__PROVIDER__MODEL: 'm',
};

describe('what may be fetched, and what comes of it', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      env: { ...guarded, GATEWAY__PROVIDER__KIND: 'offline', GATEWAY__PROVIDER__API_KEY: '' },
    });
  });
  afterAll(() => gateway.stop());

  const send = async (attachments: Wire[], id?: string) => {
    const session = id ?? (await newSession(gateway.b));
    const sent = await gateway.b.post<Wire>(`/sessions/${session}/messages`, { content: 'See', attachments });
    const { body } = await gateway.b.get<HistoryWire>(`/sessions/${session}/messages`);
    return { sent, messages: body.messages };
  };
  const refused = async (attachments: Wire[], message: RegExp, path = 'attachments.0.url') => {
    const { sent, messages } = await send(attachments);
    const error = expectError('b', sent, 400, 'bad_request');
    expect(error.details?.fields).toEqual([{ path, message: expect.stringMatching(message) as unknown }]);
    expect(messages).toEqual([]);
  };

  test('the bytes, their size and the media type of the answer are stored; nothing of the gateway is told', async () => {
    answer = (response) => response.writeHead(200, { 'content-type': 'Image/JPEG; q=1' }).end('jpeg bytes');
    const { sent, messages } = await send([remote({ name: 'dot' })]);
    expect(sent.status).toBe(200);
    expect(messages[0]?.attachments).toEqual([
      {
        id: expect.any(String) as unknown,
        type: 'image',
        name: 'dot',
        mime_type: 'image/jpeg',
        size_bytes: 10,
      },
    ]);
    expect(Object.keys(asked[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
  });

  test('an answer that says nothing of its type has the announced one', async () => {
    answer = (response, path) => {
      if (path === '/binary') response.setHeader('content-type', 'application/octet-stream');
      response.end('bytes');
    };
    const { messages } = await send([remote(), remote({ url: url('/binary') })]);
    expect(messages[0]?.attachments.map((one) => one['mime_type'])).toEqual(['image/png', 'image/png']);
  });

  test('every URL that leads to this machine or its neighbours is 400 and reaches nothing', async () => {
    const id = await newSession(gateway.b);
    for (const host of hostileHosts) {
      const attachments = [remote({ url: `http://${host}:${portOf(inside)}/x` })];
      const { status, body } = await gateway.b.post<{ error: { message: string } }>(
        `/sessions/${id}/messages`,
        { content: 'x', attachments },
      );
      expect([host, status]).toEqual([host, 400]);
      expect(body.error.message).toMatch(
        /^attachments\.0\.url: must (lead to a public address|be a URL|be an http)/,
      );
    }
    expect(reachedInside).toBe(0);
  });

  test.each([
    ['another scheme', 'file:///etc/passwd', /must be an http or https URL/],
    ['credentials', 'https://user:pass@example.com/x', /must not carry a user/],
    ['a port of something else', 'http://example.com:5432/', /reserved for another protocol/],
    ['no URL', 'picture.png', /must be a URL/],
    [
      'a name that does not exist',
      'http://does-not-exist.invalid/x.png',
      /could not be fetched: name not resolved/,
    ],
  ])('%s is 400', (_what, target, message) => refused([remote({ url: target })], message));

  test.each<[string, (response: ServerResponse) => unknown, RegExp]>([
    [
      'a redirect inside',
      (response) => response.writeHead(302, { location: `http://127.0.0.1:${portOf(inside)}/` }).end(),
      /redirect, which is not followed/,
    ],
    ['404', (response) => response.writeHead(404).end('none'), /answered with status 404/],
    [
      'nothing',
      (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(),
      /without any bytes/,
    ],
    [
      'a page where a picture was announced',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      /text\/html, which is no image/,
    ],
    [
      'compressed bytes',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' })
          .end(gzipSync(PNG)),
      /compressed bytes/,
    ],
    ['silence', () => undefined, /could not be fetched: timeout/],
    ['a byte now and then', (response) => writeSlowly(response), /could not be fetched: timeout/],
    [
      'a connection that breaks',
      (response) => response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy()),
      /could not be fetched: connection reset/,
    ],
  ])('%s is 400, and nothing is stored', async (_what, script, message) => {
    answer = script;
    const began = performance.now();
    await refused([remote()], message);
    expect(performance.now() - began).toBeLessThan(2 * FETCH_MS);
    expect(reachedInside).toBe(0);
  });

  test('20 MiB together is the most, given and fetched; a flood is cut', async () => {
    const half = 10 * 1024 * 1024;
    answer = (response, path) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      if (path === '/flood') flood(response);
      else response.end(Buffer.alloc(Number(path.slice(1))));
    };
    const given = { type: 'image', mime_type: 'image/png', data: Buffer.alloc(half).toString('base64') };
    expect((await send([given, remote({ url: url(`/${half}`) })])).sent.status).toBe(200);
    await refused([remote({ url: url(`/${half + 1}`) }), given], /more than 20 MiB/);
    await refused([given, remote({ url: url('/flood') })], /more than 20 MiB/, 'attachments.1.url');
    await refused(
      [remote({ url: url(`/${half}`) }), remote({ url: url(`/${half + 1}`) })],
      /more than 20 MiB/,
      'attachments.1.url',
    );
  });

  test('nothing is fetched for a session that is unknown or has ended, nor for an eleventh attachment', async () => {
    const id = await newSession(gateway.b);
    await gateway.b.delete(`/sessions/${id}`);
    expectError('b', (await send([remote()], id)).sent, 409, 'conflict');
    const unknown = await gateway.b.post('/sessions/sess_01jd8v3q5ze0psx2w9t6m4k7ah/messages', {
      content: 'x',
      attachments: [remote()],
    });
    expectError('b', unknown, 404, 'not_found');
    const many = await gateway.b.post(`/sessions/${await newSession(gateway.b)}/messages`, {
      attachments: Array(11).fill(remote()),
    });
    expectError('b', many, 400, 'bad_request');
    expect(asked).toEqual([]);
  });

  test('the switch works while the gateway runs', async () => {
    expect((await gateway.b.patch('/config', { 'multimodal.allow_remote_fetch': false })).status).toBe(200);
    await refused([remote()], /is not fetched here/);
    expect(asked).toEqual([]);
    expect((await gateway.b.patch('/config', { 'multimodal.allow_remote_fetch': true })).status).toBe(200);
    expect((await send([remote()])).sent.status).toBe(200);
  });
});

describe.each(wires)('what a model is shown over the $kind wire', (wire) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const baseUrl = wire.kind === 'openai' ? `${provider.url}/v1` : provider.url;
    gateway = await startTestGateway({
      env: { ...guarded, GATEWAY__PROVIDER__KIND: wire.kind, GATEWAY__PROVIDER__BASE_URL: baseUrl },
    });
  });
  afterAll(() => gateway.stop());

  async function shown(attachments: Wire[]): Promise<Wire[]> {
    provider.script(answerWith(wire, 'Seen.'));
    const id = await newSession(gateway.a);
    const sent = await gateway.a.post(`/sessions/${id}/messages`, { content: 'What is this?', attachments });
    expect([sent.status, sent.text]).toEqual([200, expect.any(String)]);
    const messages = provider.requests.at(-1)?.body['messages'] as {
      role: string;
      content: string | Wire[];
    }[];
    const content = messages.at(-1)?.content ?? [];
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    // Leaves out where the provider should cache, which this test is not about.
    return content.map(({ cache_control: _, ...part }) => part);
  }
  const asImage = (data: string) =>
    wire.kind === 'openai'
      ? { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }
      : { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };

  test('a fetched picture, a given one, and one attached as a file are image parts', async () => {
    const data = PNG.toString('base64');
    const parts = await shown([
      remote(),
      { type: 'image', mime_type: 'image/png', data },
      { type: 'file', name: 'shot.png', mime_type: 'image/png', data },
    ]);
    expect(parts).toEqual([
      asImage(data),
      asImage(data),
      asImage(data),
      { type: 'text', text: 'What is this?' },
    ]);
  });

  test.each([
    'text/plain',
    'text/csv',
    'application/json',
    'application/yaml',
    'application/xml',
    'application/vnd.api+json',
    'image/svg+xml',
  ])('a file of %s is text', async (type) => {
    answer = (response) =>
      response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end('the text: é');
    const parts = await shown([
      remote({ type: 'file', name: 'notes', mime_type: 'text/plain', url: url('/notes') }),
    ]);
    expect(JSON.stringify(parts)).toContain(`[attachment notes (${type})]\\nthe text: é`);
  });

  test('a file that is no text and no picture is named, not dumped', async () => {
    const bytes = Buffer.from([0, 1, 2, 255]);
    const parts = await shown([
      { type: 'file', name: 'a.bin', mime_type: 'application/zip', data: bytes.toString('base64') },
    ]);
    expect(JSON.stringify(parts)).toContain('a.bin (application/zip, 4 bytes) cannot be shown');
  });
});

test.each([
  { kind: 'openai', suffix: '/v1' },
  { kind: 'anthropic', suffix: '' },
])(
  'an independent fake of the $kind wire takes a message with a fetched picture and a text',
  async ({ kind, suffix }) => {
    const fake = new LLMock({ port: 0 });
    await fake.start();
    const gateway = await startTestGateway({
      env: { ...guarded, GATEWAY__PROVIDER__KIND: kind, GATEWAY__PROVIDER__BASE_URL: `${fake.url}${suffix}` },
    });
    fake.onMessage('What is this?', { content: 'A dot.' });
    const id = await newSession(gateway.b);
    const { status, body } = await gateway.b.post<{ content: string }>(`/sessions/${id}/messages`, {
      content: 'What is this?',
      attachments: [remote(), { type: 'file', name: 'a.txt', mime_type: 'text/plain', data: 'aGVsbG8=' }],
    });
    expect([status, body.content]).toEqual([200, 'A dot.']);
    await gateway.stop();
    await fake.stop();
  },
);

/** Writes until the other end accepts no more. */
function flood(response: ServerResponse): void {
  const piece = Buffer.alloc(65_536);
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', write);
  write();
}

function writeSlowly(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'image/png' });
  const timer = setInterval(() => response.write('x'), 100);
  response.on('close', () => clearInterval(timer));
}
