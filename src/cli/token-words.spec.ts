import type { ApiToken } from '../tokens/api-token.js';
import { mintedJson, mintedSentence, tokenTable } from './token-words.js';

const token: ApiToken = {
  id: 'tok_1',
  name: 'ci',
  scopes: ['sessions:read', 'sessions:write'],
  boundUserId: 'ada',
  createdAt: new Date('2026-01-01T00:00:00Z'),
  expiresAt: new Date('2026-01-31T00:00:00Z'),
  lastUsedAt: null,
  revokedAt: null,
};

test('the sentence about a new token says what it may do, for whom and until when, and not the token', () => {
  expect(mintedSentence({ secret: 'agw_x', token }, 'here')).toBe(
    'token tok_1 "ci", may sessions:read, sessions:write, for user "ada" alone, expires 2026-01-31T00:00:00.000Z; ' +
      'it is shown only this once. Stored in here.',
  );
  const open = { ...token, scopes: ['*' as const], boundUserId: null, expiresAt: null };
  expect(mintedSentence({ secret: 'agw_x', token: open }, 'here')).toContain(
    'token tok_1 "ci", may do everything, never expires;',
  );
});

test('the object of a new token has the token beside what lists show', () => {
  expect(mintedJson({ secret: 'agw_x', token })).toEqual({
    token: 'agw_x',
    id: 'tok_1',
    name: 'ci',
    scopes: ['sessions:read', 'sessions:write'],
    user_id: 'ada',
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
    `ID      NAME  SCOPES                        USER  CREATED            EXPIRES            LAST USED  STATE
tok_1   ci    sessions:read,sessions:write  ada   2026-01-01 00:00Z  2026-01-31 00:00Z  never      active
tok_22  ci    sessions:read,sessions:write  ada   2026-01-01 00:00Z  2026-01-02 00:00Z  never      expired
tok_3   ci    sessions:read,sessions:write  -     2026-01-01 00:00Z  2026-01-31 00:00Z  never      revoked 2026-01-03 10:20Z
`,
  );
});
