import { MigrationExecutor } from 'typeorm';
import { ConfigStore } from '../../src/areas/config/config.store.js';
import { Database } from '../../src/platform/database/database.js';
import { Readiness } from '../../src/platform/lifecycle/readiness.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { FaultProxy } from '../harness/fault-proxy.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let database: TestDatabase;
const gateways: TestGateway[] = [];
const ways: FaultProxy[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
// More of them than run at once would take all connections of the tests' server.
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  await Promise.all(ways.splice(0).map((way) => way.cut()));
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

describe('a database that goes away while a gateway starts does not end the start when it comes back', () => {
  type Step = (this: unknown, ...given: never[]) => Promise<unknown>;
  const isCheckOfKey = (statement?: { name?: string }) => statement?.name === 'secrets.find_check';
  let mending: NodeJS.Timeout | undefined;
  afterEach(() => clearTimeout(mending));

  test.each<[string, object, string, ((given?: { name?: string }) => boolean)?]>([
    ['run migrations', MigrationExecutor.prototype, 'getPendingMigrations'],
    ['check the master key', Database.prototype, 'query', isCheckOfKey],
    ['read what was changed at run time', ConfigStore.prototype, 'load'],
    ['install GATEWAY_BOOTSTRAP_TOKEN', TokensService.prototype, 'install'],
  ])('in the step "%s"', async (what, owner, name, isIt = () => true) => {
    const steps = owner as Record<string, Step>;
    const step = steps[name] as Step;
    const way = await FaultProxy.to(database.url);
    ways.push(way);
    let isCut = false;
    jest.spyOn(steps, name).mockImplementation(async function (this: unknown, ...given) {
      if (!isCut && isIt(given[0])) {
        isCut = true;
        await way.cut();
        mending = setTimeout(() => void way.mend(), 500);
      }
      return step.apply(this, given);
    });
    const token = mintToken();
    const gateway = await startTestGateway({
      database: { ...database, url: way.url },
      env: { GATEWAY_BOOTSTRAP_TOKEN: token },
    });
    gateways.push(gateway);
    const waited = gateway.logLines.filter((line) => line.includes('the start waits for the database'));
    expect(waited).toEqual([expect.stringContaining(`"step":${JSON.stringify(what)}`)]);
    expect(await statusOn(gateway, token)).toBe(200);
  });
});
