import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

const JUDGE = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

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
  doorman = await withToken();
});
afterAll(async () => {
  await new Promise((done) => doorman.close(done));
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The judge sends no token: it goes through somebody who adds one and changes nothing else. */
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

/** The other scenarios are for resources, prompts, logging, sampling and elicitation, which this server has not. */
test.each([
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-error',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
])(
  "the protocol's own judge finds no fault with the server in the scenario %s",
  async (scenario) => {
    const { code, said } = await judged(scenario);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(/0 failed/) as string });
  },
  60_000,
);
