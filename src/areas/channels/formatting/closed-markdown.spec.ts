import fc from 'fast-check';
import { closedMarkdown } from './closed-markdown.js';
import { textOfBlocks } from './formatted-text.js';
import { parseMarkdown } from './markdown.js';

test.each([
  ['plain', 'plain …'],
  ['this is **imp', 'this is **imp** …'],
  ['this is **', 'this is …'],
  ['this is **bold** and *ital', 'this is **bold** and *ital* …'],
  ['**bold *and it', '**bold *and it*** …'],
  ['use `co', 'use `co` …'],
  ['see [the page](https://exam', 'see the page …'],
  ['see [the pa', 'see [the pa …'],
  ['* item\n* **an', '* item\n* **an** …'],
  ['```js\nconst a = **', '```js\nconst a = ** …'],
  ['```\ncode\n```\nand **so', '```\ncode\n```\nand **so** …'],
  ['2 * 3 * 4 and snake_case', '2 * 3 * 4 and snake_case …'],
])('%j is shown as %j while it is written', (text, shown) => {
  expect(closedMarkdown(text, ' …')).toBe(shown);
});

test('at no moment of writing are paired marks shown as characters', () => {
  const words = fc.constantFrom(
    'word',
    '**two words**',
    '*slanted here*',
    '`code here`',
    '~~gone now~~',
    '[page](https://a.example/b)',
  );
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 8 }), fc.nat(), (pieces, at) => {
      const whole = pieces.join(' ');
      const shown = textOfBlocks(
        parseMarkdown(closedMarkdown(whole.slice(0, at % (whole.length + 1)).trimEnd(), ' …')),
      );
      expect(shown).not.toMatch(/[*`~]/);
    }),
    { numRuns: 1500 },
  );
});
