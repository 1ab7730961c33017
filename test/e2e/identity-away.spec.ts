import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { configEnv, issuerToml, removeConfigs, TestIssuer } from '../harness/identity.js';
import { SocketClient } from '../harness/socket-client.js';

const HOUR = 3_600_000;

let issuer: TestIssuer;
let gateway: TestGateway;
beforeAll(async () => {
  issuer = await TestIssuer.open();
  gateway = await startTestGateway({
    env: await configEnv(issuerToml(issuer, 'max_token_age_secs = 604800')),
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([issuer.close(), removeConfigs()]);
});
afterEach(() => {
  jest.restoreAllMocks();
  issuer.isAway = false;
});

/** Moves the clock ahead. */
function later(byMs: number): void {
  jest.restoreAllMocks();
  const now = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => now() + byMs);
}

const statusOf = async (token: string) => (await gateway.caller('b', token).get('/sessions')).status;
const keysAge = async (): Promise<number> => {
  const { text } = await gateway.operations.get<string>('/metrics');
  return Number(/^agent_gateway_jwt_keys_age_seconds\{issuer="corp"\} (\S+)$/m.exec(text)?.[1]);
};

test('issuer away for an hour (clock moved) harms no one whose keys are known', async () => {
  const long = Math.floor(Date.now() / 1000) + 48 * 3600;
  const remembered = await issuer.sign({ jti: 'remembered', exp: long });
  expect(await statusOf(remembered)).toBe(200);
  expect(await keysAge()).toBeLessThan(600);
  issuer.isAway = true;
  later(HOUR);
  const asked = issuer.calls;
  for (let n = 0; n < 20; n += 1) {
    expect(await statusOf(await issuer.sign({ jti: `new-${n}` }))).toBe(200);
    expect(await statusOf(remembered)).toBe(200);
  }
  // At most it was asked in the background, never for a request.
  expect(issuer.calls - asked).toBeLessThan(5);
  expect(await keysAge()).toBeGreaterThanOrEqual(3600);
});

test('after 24 hours its keys are used no more for new tokens', async () => {
  const long = Math.floor(Date.now() / 1000) + 48 * 3600;
  expect(await statusOf(await issuer.sign({ jti: 'before', exp: long }))).toBe(200);
  issuer.isAway = true;
  later(25 * HOUR);
  expect(await statusOf(await issuer.sign({ jti: 'too-late' }))).toBe(503);
});

test('a JWT signs in to the WebSocket, in a header or as a browser sends it, and is who its claims say', async () => {
  const bound = (sub: string) => issuer.sign({ sub, groups: ['support'] });
  const ada = await bound('ada');
  const { body } = await gateway.caller('b', ada).post<{ id: string }>('/sessions', {});
  const url = `ws://127.0.0.1:${gateway.started.ports.b}/ws/sessions/${body.id}`;
  const header = await SocketClient.open(url, { headers: { authorization: `Bearer ${ada}` } });
  header.send({ type: 'message', content: 'Hello' });
  await header.until('done');
  const browser = await SocketClient.open(url, {}, ['gateway.v1', `bearer.${ada}`]);
  browser.send({ type: 'ping' });
  await browser.until('pong');
  for (const { socket } of [header, browser]) socket.terminate();
  const refusals: [string, number][] = [
    [await bound('bob'), 404],
    [await issuer.sign({ groups: ['strangers'] }), 403],
    [`${ada.slice(0, -4)}AAAA`, 401],
    [await bound('ada').then((token) => token.replace(/\.[^.]*\./, '.e30.')), 401],
  ];
  for (const [token, status] of refusals)
    await expect(SocketClient.open(url, { headers: { authorization: `Bearer ${token}` } })).rejects.toThrow(
      `Unexpected server response: ${status}`,
    );
});
