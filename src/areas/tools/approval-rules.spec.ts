import { asksFor, isHarmless } from './approval-rules.js';

const call = (args: Record<string, unknown>, name = 'files__write_file') => ({ name, arguments: args });
const ETC = { tool: 'files__write_file', when: { path: '/etc/*' } };
const TMP = { tool: 'files__*', when: { path: '/tmp/*' } };

describe('a rule of tools.approval.ask with "when"', () => {
  test.each([
    ['/etc/passwd', 'a path that fits'],
    ['/etc/ssl/private/key.pem', '`*` crosses `/`'],
    ['/tmp/../etc/passwd', 'paths are normalised first'],
    ['//etc//./passwd', 'repeated slashes'],
    ['/etc/', 'the folder itself'],
    ['/etc', 'the folder itself'],
    ['\\etc\\passwd', 'backslashes'],
    ['/tmp\\..\\etc\\passwd', 'mixed separators'],
    ['file:///etc/passwd', 'a file URL'],
    ['FILE:///%65tc/passwd', 'an encoded one'],
    ['../../etc/passwd', 'a place that only the tool knows'],
    ['~root/.ssh/authorized_keys', 'a home'],
    ['/etc/pass\nwd', 'a line end'],
  ])('asks for %j: %s', (path) => expect(asksFor(ETC, call({ path }))).toBe(true));

  test.each<[string, Record<string, unknown>]>([
    ['missing', {}],
    ['null', { path: null }],
    ['a list', { path: ['/tmp/a'] }],
    ['a table', { path: { path: '/tmp/a' } }],
    ['a number', { path: 7 }],
  ])('asks when the value is %s: a value that is missing, a list or no text asks', (_what, args) => {
    expect(asksFor(ETC, call(args))).toBe(true);
  });

  test.each(['/tmp/a', '/etcetera/a', '/home/ada/etc/x', 'notes.txt', '/etc/../tmp/x', 'a/../b'])(
    'does not ask for %j',
    (path) => expect(asksFor(ETC, call({ path }))).toBe(false),
  );

  test('does not ask for another tool, whatever its arguments', () => {
    expect(asksFor(ETC, call({ path: '/etc/passwd' }, 'files__read_file'))).toBe(false);
  });

  test('asks only when every condition fits', () => {
    const rule = { tool: 'mail__send', when: { to: '*@example.com', subject: 'Invoice*' } };
    const mail = (to: unknown, subject: unknown) => asksFor(rule, call({ to, subject }, 'mail__send'));
    expect([mail('ada@example.com', 'Invoice 7'), mail('ada@example.com', 'Hello')]).toEqual([true, false]);
    expect([mail('ada@example.org', 'Invoice 7'), mail(['ada@example.com'], 'Invoice 7')]).toEqual([
      false,
      true,
    ]);
  });

  test('a name that every object has is no argument', () => {
    expect(asksFor({ tool: 'x', when: { constructor: 'a' } }, call({}, 'x'))).toBe(true);
    expect(isHarmless({ tool: 'x', when: { constructor: '*' } }, call({}, 'x'))).toBe(false);
  });

  test('addresses stay addresses', () => {
    const rule = { tool: 'web__get', when: { url: 'https://intranet.example.com/*' } };
    const get = (url: string) => asksFor(rule, call({ url }, 'web__get'));
    expect([get('https://intranet.example.com/a'), get('https://example.org/')]).toEqual([true, false]);
  });
});

describe('a rule of tools.approval.never with "when"', () => {
  test.each(['/tmp/a', '/tmp/b/c', '/tmp//d', '/etc/../tmp/e'])('lets %j pass', (path) =>
    expect(isHarmless(TMP, call({ path }))).toBe(true),
  );

  test.each([
    ['/tmp/../etc/passwd'],
    ['/tmp\\..\\..\\etc\\passwd'],
    ['/tmp'],
    ['file:///etc/passwd'],
    ['../tmp/a'],
    [['/tmp/a']],
    [undefined],
  ])('lets %j not pass', (path) => expect(isHarmless(TMP, call({ path }))).toBe(false));
});

test('a rule that is a name alone holds for every call of the tool', () => {
  expect([asksFor('files__*', call({})), asksFor('shell__*', call({}))]).toEqual([true, false]);
  expect([isHarmless('files__*', call({})), isHarmless('shell__*', call({}))]).toEqual([true, false]);
});
