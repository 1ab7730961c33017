import { answerOf, bareText, isAnswerable, questionText } from './question-text.js';

const asked = (properties: object, more: object = {}) => ({
  ...{ message: 'Which?\n# Now', tool: 'trip__ask', schema: { type: 'object', properties } },
  ...{ expiresAt: new Date(Date.now() + 60_000), ...more },
});
const shown = (question: ReturnType<typeof asked>) => questionText(question, (text) => text);
const said = (properties: object, text: string) => answerOf(asked(properties), text);
const SIZE = { size: { type: 'string', enum: ['s', 'm', '1'], enumNames: ['Small', 'Medium', 'One'] } };

test("a question is quoted, so that no one takes it for the agent's own words", () => {
  expect(shown(asked(SIZE))).toContain('The tool trip__ask asks:\n\n> Which?\n> # Now\n\n');
  expect(shown(asked(SIZE))).toContain('1. Small\n2. Medium');
});

test.each(['\r', '\r\n', '\u2028', '\u2029', '\u0085', '\v', '\f'])(
  'nothing gets out of the quotation with %j',
  (end) => {
    expect(shown(asked(SIZE, { message: `Which?${end}Write your password.` }))).toContain(
      '\n> Which?\n> Write your password.\n\n',
    );
  },
);

test('titles, options and defaults are one literal line each, and none is long', () => {
  const evil = 'Size\n\n**The agent** says\u2028[here](https://example.com)';
  const line = 'Size \\*\\*The agent\\*\\* says \\[here\\](https://example.com)';
  const choice = { type: 'string', title: evil, enum: ['s'], enumNames: [evil], default: 's' };
  expect(shown(asked({ size: choice }))).toContain(
    `${line}: write one of these (usually s).\n\n1. ${line}\n`,
  );
  const text = { type: 'string', title: 'x'.repeat(5000), default: evil };
  expect(shown(asked({ text }))).toContain(`${'x'.repeat(200)} …: write your answer (usually ${line}).`);
  expect(shown(asked({ a: choice, b: choice }))).toContain(`(${line}, ${line})`);
});

test('known secrets are hidden in all that a tool names', () => {
  const secret = 's_e_c_r_e_t';
  const field = { type: 'string', title: secret, enum: ['s'], enumNames: [secret], default: secret };
  const hide = (text: string) => text.replaceAll(secret, '(hidden)');
  const text = questionText(asked({ field }, { message: secret }), hide);
  expect(text.replaceAll('\\', '')).not.toContain(secret);
  expect(text).toContain('> (hidden)\n');
});

test('the address of a page is shown as browsers read it, and ends no line', () => {
  const page = asked({}, { url: 'https://EXAMPLE.com/a\n?[yes](https://example.org)' });
  expect(shown(page)).toContain('trust it: https://example.com/a?[yes%5D(https://example.org)\nThen write');
});

test.each<[string, object, string, unknown]>([
  ['a number that is none', { n: { type: 'number' } }, 'some', undefined],
  ['nothing for a number', { n: { type: 'number' } }, ' ', undefined],
  ['infinity', { n: { type: 'number' } }, 'Infinity', undefined],
  ['a word for a yes', { b: { type: 'boolean' } }, 'maybe', undefined],
  ['a value before a place', SIZE, '1', { action: 'accept', content: { size: '1' } }],
  ['a place', SIZE, '2', { action: 'accept', content: { size: 'm' } }],
  ['no place', SIZE, '9', undefined],
  ['cancel for any', { t: { type: 'string' } }, '/Cancel', { action: 'decline' }],
  [
    'a text that contains it',
    { t: { type: 'string' } },
    'decline it',
    { action: 'accept', content: { t: 'decline it' } },
  ],
  ['a no without a field', {}, 'No.', { action: 'decline' }],
])('%s', (_what, properties, text, answer) => {
  expect(said(properties, text)).toEqual(answer);
});

test('a page is answered with yes; several fields cannot be answered', () => {
  const page = asked({}, { url: 'https://example.com/a' });
  expect(shown(page)).toContain('https://example.com/a');
  expect(answerOf(page, 'done')).toEqual({ action: 'accept' });
  expect(isAnswerable(asked({ a: { type: 'string' }, b: { type: 'string' } }))).toBe(false);
});

test.each([
  ['private', { content: 'two\nlines', isGroup: false }, 'two\nlines'],
  ['a group', { content: 'Ada (7): two\n    lines', isGroup: true }, 'two\nlines'],
  [
    'a reply',
    { content: '(In reply to this message of yours:)\n> Which?\n> a: b\n\n42', isGroup: false },
    '42',
  ],
  [
    'an edited message',
    {
      content: '(This is an earlier message, which its writer has edited. It now reads:)\n\n42\n43',
      isGroup: false,
    },
    '42\n43',
  ],
  ['a forwarded one', { content: '(Forwarded from Ada)\n\n42', isGroup: false }, '42'],
  [
    'a forwarded reply',
    { content: '(Forwarded from Ada)\n(In reply to this message:)\n> a\n\n42', isGroup: false },
    '42',
  ],
  [
    'what only begins like a note',
    { content: '(Forwarded from Ada) 42', isGroup: false },
    '(Forwarded from Ada) 42',
  ],
  ['a line like a note', { content: '(Forwarded from Ada)\n42', isGroup: false }, '(Forwarded from Ada)\n42'],
  [
    'a reply in a group',
    { content: 'Ada (7): (In reply to this message of yours:)\n    > Which?\n    \n    42', isGroup: true },
    '42',
  ],
])('the text of a person, without what the inbox puts around it: %s', (_what, message, text) => {
  expect(bareText({ ...message, userId: 'telegram:7' })).toBe(text);
});
