import fc from 'fast-check';
import type { SettingsJsonSchema } from './settings-tree.js';
import { parseValue } from './value-text.js';

const list = (type: string): SettingsJsonSchema => ({ type: 'array', items: { type } });

describe('parsing the text of a variable', () => {
  test('every integer and every plain fraction round-trips', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => parseValue({ type: 'integer' }, String(value)) === value),
    );
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
        (value) => parseValue({ type: 'number' }, String(value)) === value,
      ),
    );
  });

  test.each(['', ' ', '1 ', '0x10', '1_000', 'NaN', 'Infinity', '1.', '.5', '٣'])(
    '%j is no number',
    (text) => {
      expect(parseValue({ type: 'integer' }, text)).toBeUndefined();
    },
  );

  test('only true and false are booleans', () => {
    expect(
      ['true', 'false', 'True', '1', 'yes', ''].map((text) => parseValue({ type: 'boolean' }, text)),
    ).toEqual([true, false, undefined, undefined, undefined, undefined]);
  });

  test('a list reads the same from JSON and from commas', () => {
    const words = fc.array(fc.stringMatching(/^[a-z0-9:/]{1,8}$/));
    fc.assert(
      fc.property(words, (values) => {
        expect(parseValue(list('string'), JSON.stringify(values))).toEqual(values);
        expect(parseValue(list('string'), values.join(' , '))).toEqual(values);
      }),
    );
    expect(parseValue(list('integer'), '1,2')).toEqual([1, 2]);
    expect(parseValue(list('integer'), '1,x')).toBeUndefined();
    expect(parseValue(list('string'), '[1')).toBeUndefined();
  });

  test('text stays as it is, whatever it looks like', () => {
    fc.assert(fc.property(fc.string(), (text) => parseValue({ type: 'string' }, text) === text));
  });

  test('no text makes it throw', () => {
    const types = fc.constantFrom('integer', 'number', 'boolean', 'string', 'array', 'object');
    fc.assert(fc.property(types, fc.string(), (type, text) => void parseValue({ type }, text)));
  });
});
