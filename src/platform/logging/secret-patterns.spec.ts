import { mintToken } from '../tokens/token-format.js';
import { redactPatterns } from './secret-patterns.js';

const KEY = 'AbCdEf0123456789_-XyZabcdefghijklmn';

describe('what looks like a secret', () => {
  test.each([
    ['a token of this gateway', `token ${mintToken()} refused`, 'token ***REDACTED*** refused'],
    ['a token that was cut short', `${mintToken().slice(0, 40)}…`, '***REDACTED***…'],
    ['a bearer header', `Authorization: Bearer ${KEY}.a~b+c/d==`, 'Authorization: Bearer ***REDACTED***'],
    [
      'a bearer header in small and in capital letters',
      `bearer ${KEY}, BEARER ${KEY}`,
      'bearer ***REDACTED***, BEARER ***REDACTED***',
    ],
    ['a bearer value in a query', `?authorization=Bearer%20${KEY}`, '?authorization=Bearer%20***REDACTED***'],
    ['basic credentials', '"Basic dXNlcjpodW50ZXIyMg=="', '"Basic ***REDACTED***"'],
    ['a key of OpenAI', `key=sk-proj-${KEY}`, 'key=***REDACTED***'],
    ['a key of Anthropic', `(sk-ant-api03-${KEY})`, '(***REDACTED***)'],
    ['a key behind a JSON escape', `{"m":"line\\nsk-${KEY}"}`, '{"m":"line\\n***REDACTED***"}'],
    ['a key behind an underscore', `my_sk-${KEY}`, 'my_***REDACTED***'],
    [
      'a bot token in a URL of Telegram',
      `https://api.telegram.org/bot123456789:${KEY}/getMe`,
      'https://api.telegram.org/bot***REDACTED***/getMe',
    ],
    ['tokens of Slack', 'xoxb-1234567890-abcdef xapp-1-A0123456789-abc', '***REDACTED*** ***REDACTED***'],
    ['a webhook secret', '"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/=="', '"***REDACTED***"'],
    ['credentials in a URL', 'postgres://gate:pa:ss@db:5432/x', 'postgres://***REDACTED***@db:5432/x'],
    [
      'a password with an at sign',
      'see amqp://u:p@ss@host/v and http://plain.example/a@b',
      'see amqp://***REDACTED***@host/v and http://plain.example/a@b',
    ],
    [
      'a token as the only credential of a URL',
      'https://ghtoken@example.com/r.git',
      'https://***REDACTED***@example.com/r.git',
    ],
  ])('%s is taken out, and what stands around it stays', (_, text, expected) => {
    expect(redactPatterns(text)).toBe(expected);
    expect(redactPatterns(expected)).toBe(expected);
  });

  test.each([
    'a task-force-on-something-very-long met at the desk-of-a-friend-in-town',
    'sess_01h455vb4pex5vsknk084sn02q and agw_sessions_active are no secrets',
    'HTTP 401 with WWW-Authenticate: Bearer realm="gateway", error="invalid_token"',
    'basic authentication is not offered; a basic understanding helps',
    'http://127.0.0.1:3120/api/v1/sessions?limit=5 answered at 2026-11-21T03:45:46.123Z',
    'mail someone@example.com about https://example.com/a and 1763700000000:12',
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '{"module":"edge::access","ms":12.5,"route":"/sessions/:id/messages"}',
  ])('%s: stays as it is', (text) => {
    expect(redactPatterns(text)).toBe(text);
  });

  test('takes time in proportion to the length, also for texts made to take longer', () => {
    const starts = [
      'a',
      '1',
      'sk-',
      '://',
      '://a:',
      'Bearer ',
      'Bearer a',
      'Basic a',
      '12345:',
      'xoxb-',
      'whsec_',
      'agw_',
    ];
    const run = (text: string) => {
      const before = performance.now();
      redactPatterns(text);
      return performance.now() - before;
    };
    for (const start of starts) {
      const small = Math.max(1, ...[1, 2, 3].map(() => run(start.repeat(20_000 / start.length))));
      // Twenty times the text; a quadratic search would take four hundred times as long.
      const large = Math.min(...[1, 2, 3].map(() => run(start.repeat(400_000 / start.length))));
      expect(large / small).toBeLessThan(150);
    }
  });
});
