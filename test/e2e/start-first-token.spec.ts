import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/database/data-source-options.js';
import { Database } from '../../src/database/database.js';
import { TokenStore } from '../../src/tokens/token.store.js';
import { defaultExpiry } from '../../src/tokens/token-expiry.js';
import { TokensService } from '../../src/tokens/tokens.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';

let testDatabase: TestDatabase;
let dataSource: DataSource;
let tokens: TokensService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const limits = {
    size: 8,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 10_000,
    onIdleError: () => undefined,
  };
  dataSource = await new DataSource(dataSourceOptions({ url: testDatabase.directUrl }, limits)).initialize();
  const database = new Database(dataSource);
  tokens = new TokensService(new TokenStore(database), database);
});
afterAll(async () => {
  await dataSource.destroy();
  await testDatabase.drop();
});

test('of many starts at the same moment one makes the first token, and none after it, revoked or not', async () => {
  const wish = { name: 'admin', scopes: ['*'], expiresAt: defaultExpiry(), boundUserId: null } as const;
  const made = await Promise.all(Array.from({ length: 8 }, () => tokens.createFirst(wish)));
  const [first, ...others] = made.filter((minted) => minted !== undefined);
  expect(others).toEqual([]);
  expect(await tokens.list()).toEqual([first?.token]);

  const revoked = await tokens.revoke('admin');
  expect(revoked.revokedAt).toBeInstanceOf(Date);
  expect(await tokens.createFirst(wish)).toBeUndefined();
});

test('the bootstrap token is installed once, also with the line feed of a Secret, and stays revoked once it is', async () => {
  const secret = (await tokens.create({ name: 'x', scopes: ['*'], expiresAt: null, boundUserId: null }))
    .secret;
  await tokens.revoke('x');
  await tokens.install(`${secret}\n`);
  const all = await tokens.list();
  expect(all.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  await expect(tokens.install('letmein')).rejects.toThrow('agent-gateway auth token mint');
});
