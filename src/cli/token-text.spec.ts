import { newId } from '../common/ids/typeid.js';
import type { ApiToken } from '../platform/tokens/api-token.js';
import { SCOPE_PRESETS } from '../platform/tokens/scopes.js';
import { mintedJson, mintedSentence, tokenTable } from './token-text.js';

const token: ApiToken = {
  id: 'tok_1',
  familyId: 'tok_1',
  maker: null,
  agents: null,
  bootstrapAt: null,
  name: 'ci',
  scopes: ['sessions:read', 'sessions:write'],
  boundUserId: 'ada',
  createdAt: new Date('2026-01-01T00:00:00Z'),
  expiresAt: new Date('2026-01-31T00:00:00Z'),
  lastUsedAt: null,
  revokedAt: null,
};

test('the sentence about a new token names its scopes, user and expiry, never the token', () => {
  expect(mintedSentence({ secret: 'agw_x', token }, 'here')).toBe(
    'token tok_1 "ci", may sessions:read, sessions:write, for user "ada" alone, expires 2026-01-31T00:00:00.000Z; ' +
      'it is shown only this once. Stored in here.',
  );
  const open = { ...token, scopes: ['*' as const], boundUserId: null, expiresAt: null };
  expect(mintedSentence({ secret: 'agw_x', token: open }, 'here')).toContain(
    'token tok_1 "ci", may do everything, never expires;',
  );
});

test('the JSON of a new token is what lists show, plus the token', () => {
  expect(mintedJson({ secret: 'agw_x', token })).toEqual({
    token: 'agw_x',
    id: 'tok_1',
    name: 'ci',
    scopes: ['sessions:read', 'sessions:write'],
    user_id: 'ada',
    agents: null,
    created_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-31T00:00:00.000Z',
    last_used_at: null,
    revoked_at: null,
  });
});

test('the table tells active, expired and revoked tokens apart', () => {
  const now = new Date('2026-01-15T00:00:00Z');
  const expired = { ...token, id: 'tok_22', expiresAt: new Date('2026-01-02T00:00:00Z') };
  const revoked = { ...token, id: 'tok_3', boundUserId: null, revokedAt: new Date('2026-01-03T10:20:30Z') };
  expect(tokenTable([token, expired, revoked], now)).toBe(
    `ID      NAME  SCOPES                        USER  EXPIRES     LAST USED  STATE
tok_1   ci    sessions:read,sessions:write  ada   2026-01-31  never      active
tok_22  ci    sessions:read,sessions:write  ada   2026-01-02  never      expired
tok_3   ci    sessions:read,sessions:write  -     2026-01-31  never      revoked
`,
  );
});

test('the table is at most 100 columns wide and shows every name, scope and user in full', () => {
  const long: ApiToken = {
    ...token,
    id: newId('tok'),
    name: 'n'.repeat(128),
    scopes: [...SCOPE_PRESETS.operator],
    boundUserId: `https://login.example.com/|${'u'.repeat(200)}`,
    lastUsedAt: new Date('2026-01-02T00:00:00Z'),
    revokedAt: new Date('2026-01-03T00:00:00Z'),
  };
  const table = tokenTable([long, { ...token, id: newId('tok') }]);
  const lines = table.split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(table).toContain(long.id);
  expect(table.match(/n/g)?.length).toBeGreaterThanOrEqual(128);
  for (const scope of SCOPE_PRESETS.operator)
    expect(table.replaceAll(/\s/g, '')).toContain(scope.slice(0, 6));
});
