import { z } from 'zod';
import { checkedBody } from './checked-body.js';

const SCHEMA = z.strictObject({
  model: z.string().min(1).max(4),
  n: z.number().int().min(1).max(2).optional(),
  kind: z.enum(['one', 'two']).optional(),
  mode: z.literal('auto').optional(),
  stream: z.boolean().optional(),
  stop: z.array(z.string()).min(1).max(2).optional(),
  extra: z.record(z.string(), z.string()).optional(),
});

test('a body that fits; null counts as left out', () => {
  expect(checkedBody(SCHEMA, { model: 'm', n: 2, stop: null })).toEqual({ model: 'm', n: 2 });
});

const ITEMS = z.strictObject({
  input: z.array(
    z.union([
      z.strictObject({ role: z.literal('user'), content: z.string() }),
      z.strictObject({
        role: z.literal('assistant'),
        content: z.union([z.string(), z.array(z.strictObject({ type: z.literal('text') }))]),
      }),
    ]),
  ),
});

test.each<[unknown, string]>([
  [{ role: 'assistant', content: 7 }, 'input[0].content: must be a text'],
  [{ role: 'assistant', content: [{ type: 'image' }] }, 'input[0].content[0].type: must be "text"'],
  [{ role: 'assistant', content: [{ type: 'text', n: 1 }] }, 'input[0].content[0].n: is not supported'],
  [{ role: 'robot', content: 'x' }, 'input[0].role: must be "user"'],
])('of several forms, the error is about the one that was probably meant: %j', (item, sentence) => {
  expect(() => checkedBody(ITEMS, { input: [item] })).toThrow(sentence);
});

test.each<[unknown, string]>([
  [{}, 'model: is required'],
  [{ model: 7 }, 'model: must be a text'],
  [{ model: '' }, 'model: must have at least 1 character'],
  [{ model: 'much too long' }, 'model: must have at most 4 characters'],
  [{ model: 'm', n: 'x' }, 'n: must be a number'],
  [{ model: 'm', n: 1.5 }, 'n: must be a whole number'],
  [{ model: 'm', n: 3 }, 'n: must be at most 2'],
  [{ model: 'm', n: 0 }, 'n: must be at least 1'],
  [{ model: 'm', kind: 'three' }, 'kind: must be one of "one", "two"'],
  [{ model: 'm', mode: 'x' }, 'mode: must be "auto"'],
  [{ model: 'm', stream: 'yes' }, 'stream: must be true or false'],
  [{ model: 'm', stop: 'x' }, 'stop: must be a list'],
  [{ model: 'm', stop: [] }, 'stop: must have at least 1 item'],
  [{ model: 'm', stop: ['a', 2] }, 'stop[1]: must be a text'],
  [{ model: 'm', extra: 'x' }, 'extra: must be an object'],
  [{ model: 'm', logit_bias: {} }, 'logit_bias: is not supported here; leave it out'],
])('%j is refused in plain words', (body, sentence) => {
  expect(() => checkedBody(SCHEMA, body)).toThrow(sentence);
});
