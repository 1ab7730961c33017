import { validateSync } from 'class-validator';
import { TextLength } from './field.decorator.js';

class Named {
  @TextLength(2, 3)
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const passes = (name: string) => validateSync(new Named(name)).length === 0;

test.each([
  ['x', false],
  ['xy', true],
  ['漢字漢', true],
  ['漢字漢字', false],
  ['😀', false],
  ['😀😀😀', true],
  ['😀😀😀😀', false],
])('%s: the length of a text is counted in characters, not in code units', (name, isFine) => {
  expect(passes(name)).toBe(isFine);
});

test('the characters of a text that is far too long are not counted', () => {
  const count = jest.spyOn(String.prototype, Symbol.iterator);
  const isFine = passes('漢'.repeat(1000));
  const counted = count.mock.contexts.some((text) => String(text).length === 1000);
  count.mockRestore();
  expect([isFine, counted]).toEqual([false, false]);
});
