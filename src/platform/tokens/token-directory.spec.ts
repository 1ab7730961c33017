import type { ApiToken } from './api-token.js';
import { CredentialRevisions } from './credential-revisions.js';
import { TokenStore } from './token.store.js';
import { TokenDirectory } from './token-directory.js';
import { mintToken } from './token-format.js';
import type { TokenUse } from './token-use.service.js';

const TOKEN: ApiToken = {
  id: 'tok_1',
  familyId: 'tok_1',
  maker: null,
  agents: null,
  bootstrapAt: null,
  name: 'one',
  scopes: ['*'],
  boundUserId: null,
  createdAt: new Date(),
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
};

/** A table of tokens that counts its questions and answers them when the test says so. */
class SlowTable extends TokenStore {
  lookUps = 0;
  currentRevision = '1';
  private readonly pending: ((token: ApiToken | undefined) => void)[] = [];

  constructor() {
    super(undefined as never);
  }

  override revisions(): Promise<{ tokens: string; denials: string }> {
    return Promise.resolve({ tokens: this.currentRevision, denials: '0' });
  }

  override findUnrevokedByHash(): Promise<ApiToken | undefined> {
    this.lookUps += 1;
    return new Promise((resolve) => this.pending.push(resolve));
  }

  answer(token: ApiToken | undefined): void {
    this.pending.shift()?.(token);
  }
}

const nobodyNotes = { record: () => undefined } as unknown as TokenUse;
const settled = () => new Promise(setImmediate);

afterEach(() => jest.restoreAllMocks());

test('equal look-ups at the same time share one query', async () => {
  const table = new SlowTable();
  const directory = new TokenDirectory(table, nobodyNotes, new CredentialRevisions(table));
  const presented = mintToken();
  const asked = [1, 2, 3].map(async () => directory.find(presented));
  await settled();
  expect(table.lookUps).toBe(1);
  table.answer(TOKEN);
  expect((await Promise.all(asked)).map((caller) => caller?.tokenId)).toEqual(['tok_1', 'tok_1', 'tok_1']);
  expect((await directory.find(presented))?.tokenId).toBe('tok_1');
  expect(table.lookUps).toBe(1);
});

test('a request that comes after a change was seen does not get an earlier result', async () => {
  const table = new SlowTable();
  const directory = new TokenDirectory(table, nobodyNotes, new CredentialRevisions(table));
  const presented = mintToken();
  const before = directory.find(presented);
  await settled();
  table.currentRevision = '2';
  const later = performance.now() + 501;
  jest.spyOn(performance, 'now').mockReturnValue(later);
  const after = directory.find(presented);
  await settled();
  expect(table.lookUps).toBe(2);
  table.answer(TOKEN);
  table.answer(undefined);
  expect((await before)?.tokenId).toBe('tok_1');
  expect(await after).toBeUndefined();
});
