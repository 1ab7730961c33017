import fc from 'fast-check';
import { textOfBlocks } from './formatted-text.js';
import { parseMarkdown } from './markdown.js';
import { splitMarkdown } from './split-markdown.js';

test('a text that fits keeps its content and loses the white space around it', () => {
  expect(splitMarkdown(' Hello. \n', 10)).toEqual(['Hello.']);
  expect(splitMarkdown('   ', 10)).toEqual([]);
});

test('a long text is cut at the best break in the second half of a part', () => {
  expect(splitMarkdown('one two three four five six', 12)).toEqual(['one two', 'three four', 'five six']);
  expect(splitMarkdown('A first line.\nA second one that is long', 24)).toEqual([
    'A first line.',
    'A second one that is',
    'long',
  ]);
  expect(splitMarkdown('Ends here. Goes on there for a while', 16)).toEqual([
    'Ends here.',
    'Goes on there',
    'for a while',
  ]);
});

test('a text without breaks is cut between grapheme clusters', () => {
  expect(splitMarkdown('x'.repeat(25), 10)).toEqual(['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)]);
  const family = '👩‍👩‍👧‍👦';
  expect(splitMarkdown(family.repeat(3), family.length + 5)).toEqual([family, family, family]);
  expect(splitMarkdown('😀'.repeat(5), 3)).toEqual(['😀', '😀', '😀', '😀', '😀']);
  expect(splitMarkdown('é'.normalize('NFD').repeat(3), 3)).toEqual(Array(3).fill('é'.normalize('NFD')));
});

test('a grapheme cluster longer than a part is cut between code points', () => {
  const parts = splitMarkdown('👩‍👩‍👧‍👦', 4);
  expect(parts.join('')).toBe('👩‍👩‍👧‍👦');
  for (const part of parts) expect(part.isWellFormed()).toBe(true);
});

test('only white space is lost, no part is too long, no character is broken', () => {
  const texts = fc.string({
    unit: fc.constantFrom('a', 'Ж', '中', '😀', '👍🏽', ' ', '\n', '. '),
    maxLength: 400,
  });
  fc.assert(
    fc.property(texts, fc.integer({ min: 4, max: 60 }), (text, longest) => {
      const parts = splitMarkdown(text, longest);
      expect(parts.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      for (const part of parts) {
        expect(part.length).toBeLessThanOrEqual(longest);
        expect(part.length).toBeGreaterThan(0);
        expect(part.isWellFormed()).toBe(true);
      }
    }),
  );
});

test('code that is cut is closed, and opened again in its language', () => {
  const code = Array.from({ length: 12 }, (_, index) => `line ${index};`).join('\n');
  const parts = splitMarkdown(`\`\`\`js\n${code}\n\`\`\`\nThe end.`, 60);
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts.slice(0, -1)) {
    expect(part.startsWith('```js\n')).toBe(true);
    expect(part.endsWith('\n```')).toBe(true);
  }
  expect(parts.flatMap((part) => part.match(/line \d+;/g) ?? []).join('\n')).toBe(code);
  expect(parts.at(-1)).toContain('The end.');
});

test('code that would start at the end of a part starts in the next one', () => {
  const [first, second] = splitMarkdown(`${'word '.repeat(9)}\n\`\`\`\none\ntwo\n\`\`\``, 60);
  expect(first).toBe('word '.repeat(9).trim());
  expect(second).toBe('```\none\ntwo\n```');
});

test('a table that is cut repeats its head', () => {
  const rows = Array.from({ length: 20 }, (_, index) => `| ${index} | row |`).join('\n');
  const parts = splitMarkdown(`| n | what |\n|---|---|\n${rows}`, 120);
  expect(parts.length).toBeGreaterThan(1);
  for (const part of parts) expect(part.startsWith('| n | what |\n|---|---|\n|')).toBe(true);
});

test('bold words and links are not cut when another place is near', () => {
  const text = `${'word '.repeat(8)}**these words belong together, always** and so it ends`;
  for (const part of splitMarkdown(text, 60)) expect((part.match(/\*\*/g) ?? []).length % 2).toBe(0);
});

test('people see in the parts what they would see in the whole', () => {
  const inline = fc.constantFrom(
    'word',
    'two words',
    '**bold words**',
    '*slanted*',
    '`code`',
    '[page](https://a.b/c)',
  );
  const paragraph = fc.array(inline, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(' '));
  const code = fc.array(fc.constantFrom('let a;', '  b();', '', '# no title'), {
    minLength: 1,
    maxLength: 12,
  });
  const block = fc.oneof(
    paragraph,
    code.map((lines) => ['```ts', 'x', ...lines, 'y', '```'].join('\n')),
    fc
      .array(paragraph, { minLength: 1, maxLength: 5 })
      .map((items) => items.map((item) => `- ${item}`).join('\n')),
  );
  fc.assert(
    fc.property(
      fc.array(block, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 80, max: 200 }),
      (blocks, longest) => {
        const whole = blocks.join('\n\n');
        const parts = splitMarkdown(whole, longest);
        for (const part of parts) expect(part.length).toBeLessThanOrEqual(longest);
        expect(parts.map(seen).join('')).toBe(seen(whole));
      },
    ),
    { numRuns: 1500 },
  );
});

function seen(markdown: string): string {
  return textOfBlocks(parseMarkdown(markdown)).replace(/\s/g, '');
}
