import { createDataSource, type PooledDataSource } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { defaultExpiry } from '../../src/platform/tokens/api-token.js';
import { TokenStore } from '../../src/platform/tokens/token.store.js';
import { TokenEndings } from '../../src/platform/tokens/token-endings.js';
import { mintToken } from '../../src/platform/tokens/token-format.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';

let testDatabase: TestDatabase;
let dataSource: PooledDataSource;
let tokens: TokensService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const limits = {
    size: 8,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 10_000,
    onIdleError: () => undefined,
  };
  dataSource = await createDataSource({ url: testDatabase.directUrl }, limits).initialize();
  const database = new Database(dataSource);
  tokens = new TokensService(new TokenStore(database), database, new TokenEndings());
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

describe('a bootstrap token that replaces another', () => {
  const alive = async () => {
    const all = await tokens.list();
    return all.filter(({ revokedAt, bootstrapAt }) => revokedAt === null && bootstrapAt !== null);
  };

  test('revokes it; replicas that start with either, in any order, never bring the old one back nor end the new one', async () => {
    const [old, next] = [mintToken(), mintToken()];
    expect(await tokens.install(old)).toBe(true);
    const [before] = await alive();
    const other = await tokens.create({
      name: 'bootstrap',
      scopes: ['*'],
      expiresAt: null,
      boundUserId: null,
    });
    expect(await tokens.install(next)).toBe(true);
    const [after, ...others] = await alive();
    expect(others).toEqual([]);
    expect(after?.id).not.toBe(before?.id);
    // What the old token created belongs to the new one, because the old one was replaced and not revoked by a
    // person.
    expect(after?.familyId).toBe(before?.familyId);
    for (const [given, isInForce] of [
      [old, false],
      [next, true],
      [old, false],
      [old, false],
      [next, true],
    ] as const) {
      expect(await tokens.install(given)).toBe(isInForce);
      expect((await alive()).map(({ id }) => id)).toEqual([after?.id]);
    }
    // A token with that name that a person created is left alone.
    expect((await tokens.list()).find(({ id }) => id === other.token.id)?.revokedAt).toBeNull();
  });

  test('of many replicas that start at the same moment, with the old one and the new one, one token is left', async () => {
    const [old, next] = [mintToken(), mintToken()];
    await tokens.install(old);
    await Promise.all(Array.from({ length: 8 }, (_, n) => tokens.install(n % 2 === 0 ? old : next)));
    expect(await alive()).toHaveLength(1);
    expect([await tokens.install(old), await tokens.install(next)]).toEqual([false, true]);
  });

  test('that was revoked leaves none; a token that was made otherwise may take its place', async () => {
    const [last] = await alive();
    await tokens.revoke(last?.id ?? '');
    const { secret, token } = await tokens.create({
      ...{ name: 'from a vault', scopes: ['*'], expiresAt: null, boundUserId: null },
    });
    expect(await tokens.install(secret)).toBe(true);
    expect((await alive()).map(({ id }) => id)).toEqual([token.id]);
    const rotated = await tokens.rotate(token.id, {});
    expect(await tokens.install(secret)).toBe(false);
    expect((await alive()).map(({ id }) => id)).toEqual([rotated.token.id]);
    expect(await tokens.install(mintToken())).toBe(true);
    expect((await alive()).map(({ id }) => id)).not.toContain(rotated.token.id);
  });
});
