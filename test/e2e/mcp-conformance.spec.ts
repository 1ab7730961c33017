import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench } from '../harness/mcp.js';

const JUDGE = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const CLIENT = resolve('test/harness/conformance-client.mjs');

let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await McpBench.make({});
  gateway = await startTestGateway({ env: { ...bench.env, JUDGE_SECRET: 'conformance-test-secret' } });
});
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

/** Runs one scenario of the protocol's own conformance suite against this gateway. */
function judged(scenario: string): Promise<{ code: number | null; said: string }> {
  const args = [JUDGE, 'client', '--command', `${process.execPath} ${CLIENT}`, '--scenario', scenario];
  const child = spawn(process.execPath, [...args, '--output-dir', join(bench.folder, 'judged')], {
    env: {
      PATH: process.env['PATH'],
      CONFIG_FILE: bench.file,
      GATEWAY_A: gateway.a.base,
      GATEWAY_TOKEN: gateway.token,
    },
    cwd: bench.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return new Promise((done) => child.on('close', (code) => done({ code, said })));
}

/** The other scenarios are for clients that ask a person for input or for a login in a browser. */
test.each([
  'elicitation-sep1034-client-defaults',
  'initialize',
  'tools_call',
  'sse-retry',
  'auth/client-credentials-basic',
])(
  "the protocol's own judge finds no fault with the client in the scenario %s",
  async (scenario) => {
    const { code, said } = await judged(scenario);
    expect({ code, said }).toEqual({
      code: 0,
      said: expect.stringMatching(/Passed: [1-9]\d*\/\d+, 0 failed/) as string,
    });
  },
  60_000,
);
