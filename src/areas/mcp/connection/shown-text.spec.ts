import { shownSchema, shownText } from './shown-text.js';

const hide = (text: string): string => text.replaceAll('hunter2', '***');

test.each([
  ['a known secret', 'is it hunter2?', 'is it ***?'],
  ['a secret with an invisible character in it', 'hun\u202eter2', '***'],
  ['text that turns round', 'pay \u202e001\u202c now', 'pay 001 now'],
  ['a terminal’s commands', 'a\u001b[2Jb\u0007', 'a[2Jb'],
  ['line ends, tabs, and joined emoji', 'a\nb\tc 👩\u200d💻', 'a\nb\tc 👩\u200d💻'],
])('%s is shown as it is to be read', (_what, text, shown) => {
  expect(shownText(text, hide)).toBe(shown);
});

test('titles of a question are shown so; names, values and bounds stay what the server gave', () => {
  const schema = {
    ...{ type: 'object', title: 'hunter2', required: ['title', 'hunter2'] },
    properties: {
      title: { type: 'string', title: 'a\u202e hunter2', description: 'hunter2', default: 'hunter2' },
      hunter2: { type: 'string', enum: ['hunter2'], enumNames: ['hunter2', 7] },
      many: { type: 'array', items: { anyOf: [{ const: 'hunter2', title: 'hunter2' }] }, maxItems: 2 },
      one: { type: 'string', oneOf: [{ const: 'hunter2', title: 'hunter2' }, 'odd'] },
      odd: 'odd',
    },
  };
  expect(shownSchema(schema, hide)).toEqual({
    ...{ type: 'object', title: '***', required: ['title', 'hunter2'] },
    properties: {
      title: { type: 'string', title: 'a ***', description: '***', default: 'hunter2' },
      hunter2: { type: 'string', enum: ['hunter2'], enumNames: ['***', 7] },
      many: { type: 'array', items: { anyOf: [{ const: 'hunter2', title: '***' }] }, maxItems: 2 },
      one: { type: 'string', oneOf: [{ const: 'hunter2', title: '***' }, 'odd'] },
      odd: 'odd',
    },
  });
});
