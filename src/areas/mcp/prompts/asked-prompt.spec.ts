import { askedPrompt } from './asked-prompt.js';
import type { ServerPrompt } from './server-prompt.js';

const argument = (name: string, isRequired = false) => ({ name, description: '', isRequired });
const PLAN: ServerPrompt = {
  ...{ command: 'travel-plan', name: 'plan', description: '' },
  arguments: [argument('city', true), argument('when'), argument('note')],
};
const BARE: ServerPrompt = { command: 'travel-hello', name: 'hello', description: '', arguments: [] };
const find = (command: string) => [PLAN, BARE].find((one) => one.command === command);

test.each<[string, string, Record<string, string> | undefined]>([
  ['words in order', '/travel-plan Bern May', { city: 'Bern', when: 'May' }],
  [
    'the last takes the rest',
    '/travel-plan Bern May by train, please',
    { city: 'Bern', when: 'May', note: 'by train, please' },
  ],
  [
    'quotes keep words together',
    '/travel-plan "New York" "early May"',
    { city: 'New York', when: 'early May' },
  ],
  ['by name, in any order', '/travel-plan when="early May" Bern', { when: 'early May', city: 'Bern' }],
  ['a name is given once', '/travel-plan city=a city=b', { city: 'a', when: 'city=b' }],
  ['a name that is none of its own', '/travel-plan constructor=1', { city: 'constructor=1' }],
  ['with further lines', ' /Travel-Plan Bern\nthanks', { city: 'Bern' }],
  ['behind the label of a group', 'Ada L. (U4): /travel-plan Bern\n    thanks', { city: 'Bern' }],
  ['behind a label without a name', '(U4): /travel-plan Bern', { city: 'Bern' }],
  [
    'behind what the message answers',
    'Ada (4): (In reply to this message of Bob:)\n    > a\n    > \n    > b\n    \n    /travel-plan Bern',
    { city: 'Bern' },
  ],
  [
    'in an edited message',
    '(This is an earlier message, which its writer has edited. It now reads:)\n\n/travel-plan Bern',
    { city: 'Bern' },
  ],
  ['an open quote', '/travel-plan "Bern', { city: 'Bern' }],
  ['without arguments', '/travel-hello and more', {}],
  ['part of a path', 'see /usr/travel-plan', undefined],
  ['no word of its own', 'x/travel-plan', undefined],
  ['another command', '/travel-plans', undefined],
  ['not as the first word', 'please /travel-plan Bern', undefined],
  ['not in the first line', 'please\n/travel-plan Bern', undefined],
  ['quoted by the channel', '(In reply to this message:)\n> /travel-plan Bern\n\nwhat is that?', undefined],
  ['quoted by the writer', '> /travel-plan Bern\nwhat is that?', undefined],
  ['quoted on several lines by the writer', '> see\n/travel-plan Bern', undefined],
  [
    'quoted by the writer of an answer',
    '(In reply to this message:)\n> a\n\n> b\n/travel-plan Bern',
    undefined,
  ],
  ['forwarded', '(Forwarded from Bob)\n\n/travel-plan Bern', undefined],
  ['forwarded to a group', 'Ada (4): (Forwarded from Bob)\n    \n    /travel-plan Bern', undefined],
  [
    'in what was forwarded and quotes',
    '(Forwarded from B)\n(In reply to this message:)\n> a\n\n/travel-plan Bern',
    undefined,
  ],
])('%s', (_what, message, values) => {
  expect(askedPrompt(message, find)?.values).toEqual(values);
});

test('what is required and not given is missing; an empty value is none', () => {
  expect(askedPrompt('/travel-plan when=May', find)?.missing).toEqual([argument('city', true)]);
  expect(askedPrompt('/travel-plan city= when=May', find)?.missing).toEqual([argument('city', true)]);
  expect(askedPrompt('/travel-plan Bern', find)?.missing).toEqual([]);
});

test('one prompt of a message counts, and only its beginning is searched', () => {
  expect(askedPrompt('/travel-hello\n/travel-plan x', find)?.prompt).toBe(BARE);
  expect(askedPrompt(`${'\n'.repeat(9000)}/travel-hello`, find)).toBeUndefined();
});
