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
    ['/tmp/a\tb', 'a control, which some tools drop'],
    ['passwd', 'a path in a folder that only the tool knows'],
    ['a/../b', 'the same'],
    ['', 'the folder of the tool'],
    [' /etc/passwd', 'a blank, which some tools drop'],
    ['C:\\etc', 'a drive'],
  ])('asks for %j: %s', (path) => expect(asksFor(ETC, call({ path }))).toBe(true));

  test.each<[string, Record<string, unknown>]>([
    ['missing', {}],
    ['null', { path: null }],
    ['a list', { path: ['/tmp/a'] }],
    ['a table', { path: { path: '/tmp/a' } }],
    ['a number', { path: 7 }],
  ])('asks when the value is %s: a value that is missing, a list or not text asks', (_what, args) => {
    expect(asksFor(ETC, call(args))).toBe(true);
  });

  test.each([
    '/tmp/a',
    '/etcetera/a',
    '/home/ada/etc/x',
    '/etc/../tmp/x',
    'file:///tmp/a',
    'https://example.org/',
  ])('does not ask for %j', (path) => expect(asksFor(ETC, call({ path }))).toBe(false));

  test('does not ask for another tool, whatever its arguments', () => {
    expect(asksFor(ETC, call({ path: '/etc/passwd' }, 'files__read_file'))).toBe(false);
  });

  test('asks only when every condition matches', () => {
    const rule = { tool: 'mail__send', when: { to: '*@example.com', subject: 'Invoice*' } };
    const mail = (to: unknown, subject: unknown) => asksFor(rule, call({ to, subject }, 'mail__send'));
    expect([mail('ada@example.com', 'Invoice 7'), mail('ada@example.com', 'Hello')]).toEqual([true, false]);
    expect([mail('ada@example.org', 'Invoice 7'), mail(['ada@example.com'], 'Invoice 7')]).toEqual([
      false,
      true,
    ]);
  });

  test('a name that every object inherits is not an argument', () => {
    expect(asksFor({ tool: 'x', when: { constructor: 'a' } }, call({}, 'x'))).toBe(true);
    expect(isHarmless({ tool: 'x', when: { constructor: '*' } }, call({}, 'x'))).toBe(false);
  });

  test('addresses are compared as addresses', () => {
    const rule = { tool: 'web__get', when: { url: 'https://intranet.example.com/*' } };
    const get = (url: string) => asksFor(rule, call({ url }, 'web__get'));
    expect([get('https://intranet.example.com/a'), get('https://example.org/')]).toEqual([true, false]);
  });

  test('a relative path is compared with a relative pattern', () => {
    const rule = { tool: 'files__*', when: { path: 'secret/*' } };
    expect([asksFor(rule, call({ path: 'secret/a' })), asksFor(rule, call({ path: 'notes.txt' }))]).toEqual([
      true,
      false,
    ]);
  });

  test.each([
    'https://INTRANET.example.com/a',
    'HTTPS://intranet.example.com/a',
    'https://intranet.example.com:443/a',
    'https://x@intranet.example.com/a',
    'https://x:y@intranet.example.com/a',
    ' https://intranet.example.com/a',
    'https:intranet.example.com/a',
    'https:\\\\intranet.example.com\\a',
    'ht\ntps://intranet.example.com/a',
    'https://intranet.example.com./a',
    'https://intranet.example.com?a=/../../b',
    'https://intranet.example.com/a%',
  ])('asks for %j as a tool reads it', (url) => {
    const rule = { tool: 'web__get', when: { url: 'https://intranet.example.com/*' } };
    expect(asksFor(rule, call({ url }, 'web__get'))).toBe(true);
  });

  test.each(['https://intranet.example.com/%61dmin/x', 'https://intranet.example.com/a/%2e%2e/admin/x'])(
    'asks for the path of %j',
    (url) => {
      const rule = { tool: 'web__get', when: { url: 'https://Intranet.example.com:443/admin/*' } };
      expect(asksFor(rule, call({ url }, 'web__get'))).toBe(true);
      expect(asksFor(rule, call({ url: 'https://intranet.example.com/open' }, 'web__get'))).toBe(false);
    },
  );
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
    ['/tmp/a\n'],
  ])('lets %j not pass', (path) => expect(isHarmless(TMP, call({ path }))).toBe(false));

  const PUBLIC = { tool: 'web__get', when: { url: 'https://api.example.com/public/*' } };
  test.each(['a', 'a?q=1#top', 'a%20b', 'a b', 'caf%C3%A9', 'a//b'])(
    'lets the address of %j pass',
    (path) => {
      const url = `https://api.example.com/public/${path}`;
      expect(isHarmless(PUBLIC, call({ url }, 'web__get'))).toBe(true);
    },
  );

  test.each(['%2e%2e/admin', '%2E%2e%2fadmin', '..%2fadmin', '..%5cadmin', '.\t./admin', '%'])(
    'lets the address of %j not pass',
    (path) => {
      const url = `https://api.example.com/public/${path}`;
      expect(isHarmless(PUBLIC, call({ url }, 'web__get'))).toBe(false);
    },
  );

  test.each(['https://example.com', 'https://Example.com:443/a', 'Re: 100%'])(
    '%j as a pattern lets itself pass',
    (url) => expect(isHarmless({ tool: 'x', when: { url } }, call({ url }, 'x'))).toBe(true),
  );
});

test('a rule that is only a name applies to every call of the tool', () => {
  expect([asksFor('files__*', call({})), asksFor('shell__*', call({}))]).toEqual([true, false]);
  expect([isHarmless('files__*', call({})), isHarmless('shell__*', call({}))]).toEqual([true, false]);
});
