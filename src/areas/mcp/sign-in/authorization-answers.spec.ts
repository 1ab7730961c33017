import { configuredClient, lifeOf, saidBy, usableToken } from './authorization-answers.js';

test.each([
  [3600, 3600],
  [undefined, undefined],
  [0, undefined],
  [-5, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  [1e13, 315_360_000],
])('an access token with expires_in %p lives %p seconds', (said, lives) => {
  expect(lifeOf({ expires_in: said })).toBe(lives);
});

test('a token that cannot stand in a header is refused, without being repeated', () => {
  expect(usableToken('eyJ.a-b_c~+/=')).toBe('eyJ.a-b_c~+/=');
  for (const token of ['', 'two words', 'line\r\nend', 'é', 'x'.repeat(70_000)])
    expect(() => usableToken(token)).toThrow(
      /^the authorization server gave no access token that can be used$/,
    );
});

test('what an authorization server said is one line of at most 300 characters, redacted, without control characters', () => {
  const said = saidBy(new Error(`a\u202e\u0007\nb secret ${'x'.repeat(1000)}`), (text) =>
    text.replaceAll('secret', '***'),
  );
  expect(said).toMatch(/^a b \*\*\* x+…$/);
  expect(said).toHaveLength(300);
});

test('the client of the settings has the secret that the environment has now', () => {
  const settings = { oauth_client_id: 'gw', oauth_client_secret_env: 'SECRET', oauth_issuer: 'https://as' };
  let value = 'first';
  const environment = { lookup: () => value };
  const client = () =>
    configuredClient(
      settings as Parameters<typeof configuredClient>[0],
      environment as unknown as Parameters<typeof configuredClient>[1],
    );
  expect(client()).toEqual({ client_id: 'gw', client_secret: 'first', issuer: 'https://as' });
  value = 'second';
  expect(client()?.client_secret).toBe('second');
});
