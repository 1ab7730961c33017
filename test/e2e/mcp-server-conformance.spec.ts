import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SERVER_SCENARIOS } from '../architecture/judged-scenarios.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const JUDGE = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};

let gateway: TestGateway;
let doorman: Server;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agw-judged-'));
  gateway = await startTestGateway({ env: { GATEWAY__MCP_SERVER__EXPOSE_TOOLS: 'true' } });
  const offer = { description: 'As the judge wants it', inputSchema: { type: 'object' } };
  const run = (content: string, more = {}) => Promise.resolve({ content, ...more });
  gateway.tools.register({
    ...{ ...offer, name: 'test_simple_text' },
    run: () => run('This is a simple text response for testing.'),
  });
  gateway.tools.register({
    ...{ ...offer, name: 'test_error_handling' },
    run: () => Promise.reject(new Error('This tool intentionally returns an error for testing')),
  });
  gateway.tools.register({
    ...{ ...offer, name: 'test_image_content' },
    run: () => run('A pixel', { parts: [{ type: 'image', mimeType: 'image/png', data: PIXEL }] }),
  });
  const file = (name: string, mimeType: string, text: string) => ({
    ...{ type: 'file', name, mimeType, data: Buffer.from(text).toString('base64') },
  });
  gateway.tools.register({
    ...{ ...offer, name: 'test_audio_content' },
    run: () => run('A sound', { parts: [file('sound.wav', 'audio/wav', 'RIFF')] }),
  });
  gateway.tools.register({
    ...{ ...offer, name: 'test_embedded_resource' },
    run: () => run('A text', { parts: [file('text.txt', 'text/plain', 'This is an embedded resource.')] }),
  });
  const picture = { type: 'image', mimeType: 'image/png', data: PIXEL };
  gateway.tools.register({
    ...{ ...offer, name: 'test_multiple_content_types' },
    run: () => run('Several', { parts: [picture, file('data.json', 'application/json', '{"test":"data"}')] }),
  });
  gateway.tools.register({
    ...{ name: 'json_schema_2020_12_tool', description: offer.description, inputSchema: SCHEMA_2020_12 },
    run: () => run('Fits'),
  });
  doorman = await withToken();
});
afterAll(async () => {
  await new Promise((done) => doorman.close(done));
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The suite sends no token, so a proxy adds one and changes nothing else. */
async function withToken(): Promise<Server> {
  const { hostname, port } = new URL(gateway.a.base);
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const sent = { ...headers, authorization: `Bearer ${gateway.token}` };
    const onward = request({ hostname, port, method, path: url, headers: sent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}

function judged(scenario: string): Promise<{ code: number | null; said: string }> {
  const url = `http://127.0.0.1:${(doorman.address() as AddressInfo).port}/mcp`;
  const child = spawn(process.execPath, [JUDGE, 'server', '--url', url, '--scenario', scenario], {
    ...{ cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] } },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return new Promise((done) => child.on('close', (code) => done({ code, said })));
}

test('every scenario of the judge is on the list, with why one is not for this server', () => {
  const { stdout, stderr } = spawnSync(process.execPath, [JUDGE, 'list'], { encoding: 'utf8' });
  const [listed = ''] = `${stdout}${stderr}`.split('Client scenarios');
  const names = [...listed.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name);
  expect(names.sort()).toEqual(Object.keys(SERVER_SCENARIOS).sort());
});

/** A warning means that the suite could not check something. */
const CLEAN = /Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/;
test.each(Object.keys(SERVER_SCENARIOS).filter((name) => SERVER_SCENARIOS[name] === 'passes'))(
  "the protocol's own judge finds no fault with the server in the scenario %s",
  async (scenario) => {
    const { code, said } = await judged(scenario);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(CLEAN) as string });
  },
  60_000,
);
