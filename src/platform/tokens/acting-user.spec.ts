import { actingAs, actingUser, type Caller } from './caller.js';

/** The gateway vouches only for who was verified (docs/mcp.md, For whom tools act). */
const caller = (more: Partial<Caller> = {}): Caller => ({
  ...{ tokenId: 'tok_1', tokenName: 'crm', scopes: ['sessions:write'], boundUserId: null },
  ...more,
});

test.each<[who: string, more: Partial<Caller>, actsFor: string]>([
  ['a bound token', { boundUserId: 'ada' }, 'ada'],
  ['a bound token that may do everything', { boundUserId: 'ada', scopes: ['*'] }, 'ada'],
  ['a caller with users:act_as', { scopes: ['sessions:write', 'users:act_as'] }, 'bob'],
  ['a caller with all scopes', { scopes: ['*'] }, 'bob'],
  [
    'a verified caller',
    { verifiedUserId: 'https://login.example.com/|ada' },
    'https://login.example.com/|ada',
  ],
  ['the sender in a channel', { channel: 'slack', scopes: [], verifiedUserId: 'slack:U1' }, 'slack:U1'],
  ['anybody else', {}, 'token:crm'],
  ['a channel without a sender', { channel: 'slack', tokenName: 'slack', scopes: [] }, 'token:slack'],
])('in a session that names bob, %s acts for the right user', (_, more, actsFor) => {
  expect(actingUser(caller(more), 'bob')).toBe(actsFor);
});

test.each<[who: string, more: Partial<Caller>, sessionUser: string, token: string | undefined]>([
  ['a person', { verifiedUserId: 'https://x.test|ada' }, 'bob', 'sealed'],
  ['a bound person', { boundUserId: 'https://x.test|ada' }, 'bob', 'sealed'],
  ['an operator in their own session', { scopes: ['*'] }, 'https://x.test|ada', 'sealed'],
  ['an operator in the session of somebody else', { scopes: ['*'] }, 'bob', undefined],
])('the token with which %s came is used only for themselves', (_, more, sessionUser, token) => {
  const person = caller({ tokenId: 'https://x.test|ada', identityToken: 'sealed', ...more });
  expect(actingAs(person, sessionUser).identityToken).toBe(token);
});
