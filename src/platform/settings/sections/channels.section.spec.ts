import { Environment } from '../environment.js';
import { loadSettings } from '../settings-loader.js';

/** What a start says about these variables of one channel. */
function problem(name: string, settings: Readonly<Record<string, string>>): string {
  const variables = Object.entries(settings).map(([key, value]) => [
    `GATEWAY__CHANNELS_CONFIG__${name.toUpperCase()}__${key.toUpperCase()}`,
    value,
  ]);
  try {
    loadSettings({ environment: new Environment(Object.fromEntries(variables) as Record<string, string>) });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test('a channel that has what its type needs is accepted', () => {
  expect(problem('bot', { type: 'telegram', token_env: 'BOT' })).toBe('');
  expect(problem('work', { type: 'slack', token_env: 'BOT', app_token_env: 'APP' })).toBe('');
  expect(problem('desk', { type: 'webhook', secret: 'sixteen bytes or' })).toBe('');
  expect(problem('desk', { type: 'webhook', secret: 'whsec_c2l4dGVlbiBieXRlcyBvcg==' })).toBe('');
  expect(problem('bot', { type: 'telegram', token_env: 'BOT', secret: 'ignored' })).toBe('');
  expect(problem('ms', { type: 'teams', app_id: 'a', app_secret_env: 'APP' })).toBe('');
  expect(problem('ms', { type: 'teams', app_id: 'a', assertion_file: '/var/run/token' })).toBe('');
});

test.each<[string, Record<string, string>, RegExp]>([
  [
    'bot',
    { type: 'telegram' },
    /channels_config\.bot\.token: a channel of the types "slack" and "telegram" needs a token/,
  ],
  [
    'desk',
    { type: 'webhook' },
    /channels_config\.desk\.secret: a channel of the type "webhook" needs a secret/,
  ],
  [
    'desk',
    { type: 'webhook', secret: '1:A fifteen byt' },
    /channels_config\.desk\.secret: has to be whsec_ and base64, or any text, of at least 16 bytes/,
  ],
  ['desk', { type: 'webhook', secret: 'whsec_MTpBIGZpZnRlZW4gYnl0' }, /desk\.secret: .* at least 16 bytes/],
  ['desk', { type: 'webhook', secret: 'whsec_no base64 but long enough' }, /desk\.secret: has to be whsec_/],
  ['ms', { type: 'teams', app_secret: '1:A' }, /ms\.app_id: a channel of the type "teams" needs the id/],
  ['ms', { type: 'teams', app_id: 'a' }, /ms\.app_secret: .* needs one of app_secret, app_secret_env/],
  [
    'ms',
    { type: 'teams', app_id: 'a', app_secret: '1:A', assertion_file: '/f' },
    /ms\.app_secret: .* needs one of app_secret, app_secret_env and assertion_file/,
  ],
  [
    'work',
    { type: 'slack', token: '1:A' },
    /channels_config\.work\.app_token: a channel of the type "slack" needs an app_token/,
  ],
  [
    'work',
    { type: 'slack', token: '1:A', app_token: '1:A', app_token_env: 'B' },
    /app_token_env: is set beside app_token; leave one of the two out/,
  ],
  [
    'bot',
    { type: 'telegram', token: '1:A', token_env: 'B' },
    /token_env: is set beside token; leave one of the two out/,
  ],
  [
    'bot',
    { token: '1:A' },
    /channels_config\.bot\.type: expected one of "slack", "teams", "telegram", "webhook"/,
  ],
  ['bot', { type: 'telegram', token: '1:A', api_url: 'ftp://x' }, /api_url: .*http or https URL/],
  ['bot', { type: 'telegram', token: '1:A', alowed_users: '*' }, /nearest is \S*ALLOWED_USERS/],
  ['api', { type: 'webhook', secret: 'sixteen bytes or more' }, /api is built in/],
])('%s %j: the start names the key and says what to do', (name, settings, sentence) => {
  const said = problem(name, settings);
  expect(said).toMatch(sentence);
  expect(said).not.toContain('1:A');
});
