import { askedPrompt } from './prompt-command.js';
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
  ['in the middle, within its line', 'Ada (4): please\nAda: /Travel-Plan Bern\nthanks', { city: 'Bern' }],
  ['an open quote', '/travel-plan "Bern', { city: 'Bern' }],
  ['without arguments', '/travel-hello and more', {}],
  ['part of a path', 'see /usr/travel-plan', undefined],
  ['no word of its own', 'x/travel-plan', undefined],
  ['another command', '/travel-plans', undefined],
])('%s', (_what, message, values) => {
  expect(askedPrompt(message, find)?.values).toEqual(values);
});

test('what is required and not given is missing; an empty value is none', () => {
  expect(askedPrompt('/travel-plan when=May', find)?.missing).toEqual([argument('city', true)]);
  expect(askedPrompt('/travel-plan city= when=May', find)?.missing).toEqual([argument('city', true)]);
  expect(askedPrompt('/travel-plan Bern', find)?.missing).toEqual([]);
});

test('only the first prompt of a message counts, and only its beginning is searched', () => {
  expect(askedPrompt('/travel-hello\n/travel-plan x', find)?.prompt).toBe(BARE);
  expect(askedPrompt(`${'x '.repeat(9000)}/travel-hello`, find)).toBeUndefined();
});
