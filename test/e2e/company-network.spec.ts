import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { channelEnv, untilChannel } from '../harness/channels.js';
import { AUTHORITY_FILE, CompanyProxy, PROXY_PASSWORD } from '../harness/company-proxy.js';
import { eventually } from '../harness/eventually.js';
import { freePort } from '../harness/free-port.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { McpBench, serverB } from '../harness/mcp.js';
import { answerWith, wires } from '../harness/provider-wires.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { BOT_TOKEN, TestTelegram } from '../harness/telegram.js';
import { verifyAttempt } from '../harness/webhook-judges.js';

jest.setTimeout(120_000);

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const SECRET = 'a secret of the company network';
const openai = wires.find(({ kind }) => kind === 'openai');

let proxy: CompanyProxy;
let provider: ScriptedProvider;
let receiver: HookReceiver;
let telegram: TestTelegram;
let tools: ChildProcess;
let bench: McpBench;
let gateway: TestGateway;

const portOf = (url: string): number => Number(new URL(url).port);

beforeAll(async () => {
  proxy = await CompanyProxy.start();
  provider = await startScriptedProvider();
  if (openai === undefined) throw new Error('no openai wire');
  provider.script(answerWith(openai, 'Hello from behind the proxy'));
  receiver = await HookReceiver.open();
  telegram = await TestTelegram.start();
  const toolsPort = await freePort();
  tools = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(toolsPort) },
    stdio: 'ignore',
  });
  for (const [name, port] of [
    ['model', portOf(provider.url)],
    ['hooks', portOf(receiver.url())],
    ['tools', toolsPort],
    ['telegram', portOf(telegram.url)],
  ] as const)
    proxy.backends.set(`${name}.proxied.test`, port);
  bench = await McpBench.make({ web: { transport: 'http', url: 'https://tools.proxied.test/mcp' } });
  gateway = await startTestGateway({
    env: {
      ...bench.env,
      HTTPS_PROXY: proxy.url,
      GATEWAY__OUTBOUND__CA_FILE: AUTHORITY_FILE,
      GATEWAY__OUTBOUND__PROXY_HOSTS: '*.proxied.test',
      GATEWAY__SECURITY__ALLOW_LOOPBACK: 'never',
      GATEWAY__PROVIDER__KIND: 'openai',
      GATEWAY__PROVIDER__MODEL: 'model-of-the-company',
      GATEWAY__PROVIDER__BASE_URL: 'https://model.proxied.test/v1',
      ...channelEnv('telegram', {
        type: 'telegram',
        token: BOT_TOKEN,
        api_url: 'https://telegram.proxied.test',
        allowed_users: '*',
        poll_timeout_secs: '2',
      }),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  tools.kill('SIGKILL');
  await bench.clear();
  await telegram.stop();
  await receiver.close();
  await provider.stop();
  await proxy.stop();
});

const askedFor = (name: string) =>
  proxy.asked.some(({ authority }) => authority === `${name}.proxied.test:443`);

test('a model answers through the proxy, under the private authority', async () => {
  const { body: session } = await gateway.a.post<{ session_id: string }>('/sessions', {});
  const { status, body } = await gateway.a.post<{ content: string }>(
    `/sessions/${session.session_id}/messages`,
    {
      content: 'Hello',
    },
  );
  expect([status, body.content]).toEqual([200, 'Hello from behind the proxy']);
  expect(askedFor('model')).toBe(true);
});

test('a webhook arrives through the proxy, and verifies', async () => {
  const wish = { url: 'https://hooks.proxied.test/here', events: ['session.created'], secret: SECRET };
  expect((await gateway.b.post('/hooks', wish)).status).toBe(201);
  await gateway.b.post('/sessions', {});
  await eventually(() => expect(receiver.attempts.length).toBeGreaterThan(0));
  const [attempt] = receiver.attempts;
  if (attempt !== undefined) verifyAttempt(attempt, SECRET);
  expect(askedFor('hooks')).toBe(true);
});

test('an HTTP tool server and a channel connect through the proxy', async () => {
  await eventually(async () => expect((await serverB(gateway, 'web'))?.status).toBe('connected'));
  await untilChannel(gateway, 'telegram', 'connected');
  expect([askedFor('tools'), askedFor('telegram')]).toEqual([true, true]);
});

test('the guard is no more open than without a proxy', async () => {
  const before = proxy.asked.length;
  for (const url of [
    'https://127.0.0.1/x',
    'https://10.1.2.3/x',
    'https://localhost/x',
    'https://169.254.169.254/x',
  ]) {
    const { status } = await gateway.b.post('/hooks', { url, events: ['*'] });
    expect([url, status]).toEqual([url, 400]);
  }
  expect(proxy.asked.slice(before).filter(({ authority }) => !authority.includes('proxied.test'))).toEqual(
    [],
  );
});

test("the proxy's password is in no log line", () => {
  expect(gateway.logLines.join('\n')).not.toContain(PROXY_PASSWORD);
});
