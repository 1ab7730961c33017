import { MigrationExecutor } from 'typeorm';
import { ConfigStore } from '../../src/areas/config/config.store.js';
import { Database } from '../../src/platform/database/database.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { FaultProxy } from '../harness/fault-proxy.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let database: TestDatabase;
let gateway: TestGateway;
let way: FaultProxy;
let mending: NodeJS.Timeout | undefined;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await gateway.stop();
  clearTimeout(mending);
  await way.cut();
});
afterAll(() => database.drop());

type Step = (this: unknown, ...given: never[]) => Promise<unknown>;
const isCheckOfKey = (statement?: { name?: string }) => statement?.name === 'secrets.find_check';

test.each<[string, object, string, ((given?: { name?: string }) => boolean)?]>([
  ['run migrations', MigrationExecutor.prototype, 'getPendingMigrations'],
  ['check the master key', Database.prototype, 'query', isCheckOfKey],
  ['read what was changed at run time', ConfigStore.prototype, 'load'],
  ['install GATEWAY_BOOTSTRAP_TOKEN', TokensService.prototype, 'install'],
])(
  'a database that goes away in the step "%s" does not end the start',
  async (what, owner, name, isIt = () => true) => {
    const steps = owner as Record<string, Step>;
    const step = steps[name] as Step;
    way = await FaultProxy.to(database.url);
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
    gateway = await startTestGateway({
      database: { ...database, url: way.url },
      env: { GATEWAY_BOOTSTRAP_TOKEN: token },
    });
    const waited = gateway.logLines.filter((line) => line.includes('the start waits for the database'));
    expect(waited).toEqual([expect.stringContaining(`"step":${JSON.stringify(what)}`)]);
    expect((await gateway.caller('b', token).get('/sessions')).status).toBe(200);
  },
);
