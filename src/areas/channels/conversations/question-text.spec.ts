import { answerOf, bareText, isAnswerable, questionText } from './question-text.js';

const asked = (properties: object, more: object = {}) => ({
  ...{ message: 'Which?\n# Now', tool: 'trip__ask', schema: { type: 'object', properties } },
  ...{ expiresAt: new Date(Date.now() + 60_000), ...more },
});
const said = (properties: object, text: string) => answerOf(asked(properties), text);
const SIZE = { size: { type: 'string', enum: ['s', 'm', '1'], enumNames: ['Small', 'Medium', 'One'] } };

test('a question is quoted, so that nobody takes it for the words of the agent', () => {
  expect(questionText(asked(SIZE))).toContain('The tool trip__ask asks:\n\n> Which?\n> # Now\n\n');
  expect(questionText(asked(SIZE))).toContain('1. Small\n2. Medium');
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

test('a page is opened, and answered with a yes; several fields cannot be answered', () => {
  const page = asked({}, { url: 'https://example.com/a' });
  expect(questionText(page)).toContain('https://example.com/a');
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
    'a reply in a group',
    { content: 'Ada (7): (In reply to this message of yours:)\n    > Which?\n    \n    42', isGroup: true },
    '42',
  ],
])('what a person wrote, without what the inbox puts around it: %s', (_what, message, text) => {
  expect(bareText({ ...message, userId: 'telegram:7' })).toBe(text);
});
