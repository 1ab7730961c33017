import { spawn, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench } from '../harness/mcp.js';

const JUDGE = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const CLIENT = resolve('test/harness/conformance-client.mjs');

let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await McpBench.make({});
  gateway = await startTestGateway({
    env: {
      ...bench.env,
      JUDGE_SECRET: 'conformance-test-secret',
      JUDGE_PRE_REGISTERED_SECRET: 'pre-registered-secret',
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

/** Runs one scenario of the protocol's conformance suite against this gateway. */
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

const BY_CODE = 'signs a person in by code, in a browser; the client signs in by itself';
/** Every client scenario of the suite, and why some do not apply to this client. */
const SCENARIOS: Readonly<Record<string, string>> = {
  initialize: 'passes',
  tools_call: 'passes',
  'elicitation-sep1034-client-defaults': 'passes',
  'sse-retry': 'passes',
  'auth/client-credentials-basic': 'passes',
  'auth/pre-registration': 'passes',
  'auth/resource-mismatch': 'passes',
  'auth/client-credentials-jwt': 'passes',
  'auth/metadata-default': BY_CODE,
  'auth/metadata-var1': BY_CODE,
  'auth/metadata-var2': BY_CODE,
  'auth/metadata-var3': BY_CODE,
  'auth/basic-cimd': BY_CODE,
  'auth/scope-from-www-authenticate': BY_CODE,
  'auth/scope-from-scopes-supported': BY_CODE,
  'auth/scope-omitted-when-undefined': BY_CODE,
  'auth/scope-step-up': BY_CODE,
  'auth/scope-retry-limit': BY_CODE,
  'auth/token-endpoint-auth-basic': BY_CODE,
  'auth/token-endpoint-auth-post': BY_CODE,
  'auth/token-endpoint-auth-none': BY_CODE,
  'auth/2025-03-26-oauth-metadata-backcompat': BY_CODE,
  'auth/2025-03-26-oauth-endpoint-fallback': BY_CODE,
};

test('every scenario of the suite is on the list, with why one is not for this client', () => {
  const { stdout, stderr } = spawnSync(process.execPath, [JUDGE, 'list'], { encoding: 'utf8' });
  const [, listed = ''] = `${stdout}${stderr}`.split('Client scenarios');
  const names = [...listed.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name);
  expect(names.sort()).toEqual(Object.keys(SCENARIOS).sort());
});

test.each(Object.keys(SCENARIOS).filter((name) => SCENARIOS[name] === 'passes'))(
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
