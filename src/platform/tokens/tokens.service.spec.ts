import type { Database } from '../database/database.js';
import type { ApiToken } from './api-token.js';
import type { TokenStore } from './token.store.js';
import { TokenEndings } from './token-endings.js';
import { mintToken } from './token-format.js';
import { TokensService } from './tokens.service.js';

const token = (id: string): ApiToken => ({
  id,
  familyId: id,
  maker: null,
  agents: null,
  bootstrapAt: null,
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
  return new TokensService(
    { holdChanges: async () => undefined, ...store } as unknown as TokenStore,
    database as unknown as Database,
    new TokenEndings(),
  );
}

test('a name that several tokens have identifies none of them', async () => {
  const tokens = service({ findNamed: async () => [token('tok_1'), token('tok_2')] });
  await expect(tokens.revoke('nightly')).rejects.toThrow('Several tokens have this name');
  await expect(tokens.rotate('nightly', {})).rejects.toThrow('Several tokens have this name');
});

test('an unknown name is reported as such', async () => {
  const tokens = service({ findNamed: async () => [] });
  await expect(tokens.revoke('nightly')).rejects.toThrow('no unrevoked token');
});

test('a token that was revoked at the same moment stays revoked, and is not rotated', async () => {
  const store = { findNamed: async () => [token('tok_1')], revoke: async () => undefined };
  expect(await service(store).revoke('nightly')).toEqual(token('tok_1'));
  await expect(service(store).rotate('nightly', {})).rejects.toThrow('revoked meanwhile');
});

test('a token cannot be named like a channel, whose limits would apply to it', async () => {
  const tokens = service({ insert: async () => token('tok_1') });
  const input = { name: 'channel:hookin', scopes: [], boundUserId: null, expiresAt: null };
  await expect(tokens.create(input)).rejects.toThrow('"channel:…"');
  expect((await tokens.create({ ...input, name: 'channels' })).token.id).toBe('tok_1');
});

test('a token that exists already is not made again', async () => {
  const store = {
    findNamed: async () => [token('tok_1')],
    revoke: async () => token('tok_1'),
    endedAmong: async () => new Set(),
    insert: async () => undefined,
  };
  const input = { name: 'x', scopes: [], boundUserId: null, expiresAt: null };
  await expect(service(store).create(input)).rejects.toThrow('exists already');
  await expect(service(store).rotate('nightly', {})).rejects.toThrow('exists already');
});

test('a text that is not a token is not installed; a token followed by a line feed is', async () => {
  const inserted: unknown[] = [];
  const tokens = service({
    holdCreation: async () => undefined,
    bootstrapInForce: async () => undefined,
    install: async (one: ApiToken) => inserted.push(one.name),
    revokeReplaced: async () => [],
    isInForce: async () => true,
  });
  await expect(tokens.install('hunter2')).rejects.toThrow('GATEWAY_BOOTSTRAP_TOKEN is not a token');
  expect(await tokens.install(`${mintToken()}\n`)).toBe(true);
  expect(inserted).toEqual(['bootstrap']);
});

test.each([
  ['a token that never expires by one that never does', null, {}, null],
  ['one that expires by one with the usual time', new Date(Date.now() + 1000), {}, 90],
  ['one that never expires by one with a time, when that is wanted', null, { expiresAt: new Date(5) }, 5],
])('replaces %s', async (_, old, input, expected) => {
  const inserted: ApiToken[] = [];
  const store = {
    findNamed: async () => [{ ...token('tok_1'), expiresAt: old }],
    revoke: async () => token('tok_1'),
    endedAmong: async () => new Set(),
    insert: async (one: ApiToken) => {
      inserted.push(one);
      return one;
    },
  };
  await service(store).rotate('nightly', input);
  const at = inserted[0]?.expiresAt?.getTime() ?? null;
  const days = at === null ? null : Math.round((at - Date.now()) / 86_400_000);
  expect(expected === 90 ? days : at).toBe(expected);
});

test('a token that is kept for a while gets an expiry and is not revoked', async () => {
  const limits: unknown[][] = [];
  const store = {
    findNamed: async () => [token('tok_1')],
    endWithin: async (...given: unknown[]) => {
      limits.push(given.slice(0, 2));
      return token('tok_1');
    },
    insert: async (one: ApiToken) => one,
  };
  await service(store).rotate('nightly', { keepOldSecs: 3600 });
  expect(limits).toEqual([['tok_1', 3600]]);
});

test('of several tokens with a name, the one that has not expired is meant', async () => {
  const ended: string[] = [];
  const store = {
    findNamed: async () => [token('tok_2'), { ...token('tok_1'), expiresAt: new Date(1) }],
    endedAmong: async () => new Set(),
    revoke: async (id: string) => {
      ended.push(id);
      return token(id);
    },
  };
  await service(store).revoke('nightly');
  expect(ended).toEqual(['tok_2']);
});
