import { Readiness } from '../../src/platform/lifecycle/readiness.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let database: TestDatabase;
const gateways: TestGateway[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
// More of them than run at once would take all connections of the tests' server.
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
});
afterAll(() => database.drop());

async function start(token: string): Promise<TestGateway> {
  const gateway = await startTestGateway({ database, env: { GATEWAY_BOOTSTRAP_TOKEN: token } });
  gateways.push(gateway);
  return gateway;
}

const statusOn = async (gateway: TestGateway, token: string) =>
  (await gateway.caller('b', token).get('/sessions')).status;
const warned = ({ logLines }: TestGateway) =>
  logLines.some((line) => line.includes('GATEWAY_BOOTSTRAP_TOKEN is a token that was revoked, or replaced'));

test('a rolling restart with another GATEWAY_BOOTSTRAP_TOKEN ends the old one, whichever replica restarts with which', async () => {
  const [old, next] = [mintToken(), mintToken()];
  const first = await start(old);
  expect(await statusOn(first, old)).toBe(200);
  const second = await start(next);
  await eventually(async () => {
    for (const gateway of [first, second]) {
      expect([await statusOn(gateway, old), await statusOn(gateway, next)]).toEqual([401, 200]);
    }
  });
  expect([warned(first), warned(second)]).toEqual([false, false]);
  const restarted = await start(old);
  expect(warned(restarted)).toBe(true);
  const rolledOut = await start(next);
  expect(warned(rolledOut)).toBe(false);
  for (const gateway of gateways) {
    expect([await statusOn(gateway, old), await statusOn(gateway, next)]).toEqual([401, 200]);
  }
});

test('a replica says that it is ready once its GATEWAY_BOOTSTRAP_TOKEN is in force: who waited for that is not refused', async () => {
  const order: string[] = [];
  const { install } = TokensService.prototype;
  const { ready } = Readiness.prototype;
  jest.spyOn(TokensService.prototype, 'install').mockImplementation(async function (
    this: TokensService,
    token,
  ) {
    const isInForce = await install.call(this, token);
    order.push('in force');
    return isInForce;
  });
  jest.spyOn(Readiness.prototype, 'ready').mockImplementation(function (this: Readiness) {
    order.push('ready');
    ready.call(this);
  });
  const token = mintToken();
  const gateway = await start(token);
  expect(order).toEqual(['in force', 'ready']);
  expect(await statusOn(gateway, token)).toBe(200);
});
