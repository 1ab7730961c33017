import type { Database } from '../database/database.js';
import type { ApiToken } from './api-token.js';
import type { TokenStore } from './token.store.js';
import { mintToken } from './token-format.js';
import { TokensService } from './tokens.service.js';

const token = (id: string): ApiToken => ({
  id,
  name: 'nightly',
  scopes: ['*'],
  boundUserId: null,
  createdAt: new Date(0),
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
});

/** A store that answers so, and a database whose transactions run at once. */
function service(store: Partial<Record<keyof TokenStore, unknown>>): TokensService {
  const database = { transaction: (work: (runner: object) => unknown) => work({}) };
  return new TokensService(store as unknown as TokenStore, database as unknown as Database);
}

test('a name that several tokens have names none of them', async () => {
  const tokens = service({ findNamed: async () => [token('tok_1'), token('tok_2')] });
  await expect(tokens.revoke('nightly')).rejects.toThrow('Several tokens have this name');
  await expect(tokens.rotate('nightly', null)).rejects.toThrow('Several tokens have this name');
});

test('a name that no token has is said to be none', async () => {
  const tokens = service({ findNamed: async () => [] });
  await expect(tokens.revoke('nightly')).rejects.toThrow('no unrevoked token');
});

test('a token that somebody else revoked in the same moment stays revoked, and is not rotated', async () => {
  const store = { findNamed: async () => [token('tok_1')], revoke: async () => undefined };
  expect(await service(store).revoke('nightly')).toEqual(token('tok_1'));
  await expect(service(store).rotate('nightly', null)).rejects.toThrow('revoked meanwhile');
});

test('a token that is there already is not made again', async () => {
  const store = {
    findNamed: async () => [token('tok_1')],
    revoke: async () => token('tok_1'),
    insert: async () => undefined,
  };
  const wish = { name: 'x', scopes: [], boundUserId: null, expiresAt: null };
  await expect(service(store).create(wish)).rejects.toThrow('exists already');
  await expect(service(store).rotate('nightly', null)).rejects.toThrow('exists already');
});

test('what is no token is not installed; one with a line feed behind it is', async () => {
  const inserted: unknown[] = [];
  const tokens = service({ insert: async (one: ApiToken) => inserted.push(one.name) });
  await expect(tokens.install('hunter2')).rejects.toThrow('GATEWAY_BOOTSTRAP_TOKEN is not a token');
  await tokens.install(`${mintToken()}\n`);
  expect(inserted).toEqual(['bootstrap']);
});
