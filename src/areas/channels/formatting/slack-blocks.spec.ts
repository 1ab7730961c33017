import type { RichTextBlock } from '@slack/web-api';
import fc from 'fast-check';
import { slackContent } from './slack-blocks.js';

const elementsOf = (markdown: string): RichTextBlock['elements'] => {
  const [block] = slackContent(markdown, 3500).blocks;
  return block?.elements ?? [];
};
const text = (value: string, ...marks: string[]) => ({
  type: 'text',
  text: value,
  ...(marks.length > 0 && { style: Object.fromEntries(marks.map((mark) => [mark, true])) }),
});

test('plain text needs no blocks, and is escaped', () => {
  expect(slackContent('1 < 2 & so on', 3500)).toEqual({ text: '1 &lt; 2 &amp; so on', blocks: [] });
  expect(slackContent('<!channel>', 3500)).toEqual({ text: '&lt;!channel&gt;', blocks: [] });
});

test('marks, links and headings become styles of their text runs', () => {
  expect(elementsOf('# Title\nA **bold** [page](https://example.com) and `code`')).toEqual([
    {
      type: 'rich_text_section',
      elements: [
        text('Title', 'bold'),
        text('\n\n'),
        text('A '),
        text('bold', 'bold'),
        text(' '),
        { type: 'link', url: 'https://example.com', text: 'page' },
        text(' and '),
        text('code', 'code'),
      ],
    },
  ]);
});

test('lists keep their depth and numbers, even when code stands between two items', () => {
  expect(elementsOf('1. one\n   - deeper\n2. two\n\n   ```\n   code\n   ```\n3. three')).toEqual([
    { type: 'rich_text_list', style: 'ordered', indent: 0, elements: [section('one')] },
    { type: 'rich_text_list', style: 'bullet', indent: 1, elements: [section('deeper')] },
    { type: 'rich_text_list', style: 'ordered', indent: 0, offset: 1, elements: [section('two')] },
    { type: 'rich_text_preformatted', elements: [text('code')] },
    { type: 'rich_text_list', style: 'ordered', indent: 0, offset: 2, elements: [section('three')] },
  ]);
});

test('code, quotes and tables are blocks of their own', () => {
  expect(elementsOf('> said\n\n| a | b |\n|-|-|\n| 1 | 2 |')).toEqual([
    { type: 'rich_text_quote', elements: [text('said')] },
    { type: 'rich_text_preformatted', elements: [text('a | b\n--+--\n1 | 2')] },
  ]);
});

test('a lone mark is a character, not markup of Slack', () => {
  expect(elementsOf('3 *4* or _x')).not.toEqual([]);
  expect(slackContent('5 * 6', 3500).blocks).toHaveLength(1);
});

test('whatever is written, no text is empty and no style is unknown', () => {
  const pieces = [
    'a',
    '中',
    '*',
    '**',
    '`',
    '```',
    '~~',
    '[',
    '](https://a.b)',
    '|',
    '-',
    '#',
    '>',
    '1.',
    ' ',
    '\n',
    '  ',
  ];
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...pieces), maxLength: 200 }), (markdown) => {
      const { blocks } = slackContent(markdown, 3500);
      for (const value of JSON.stringify(blocks).matchAll(/"(?:text|url)":"((?:[^"\\]|\\.)*)"/g)) {
        expect(value[1]).not.toBe('');
      }
      for (const { elements } of blocks)
        for (const part of elements) expect(part.elements.length).toBeGreaterThan(0);
    }),
    { numRuns: 1500 },
  );
});

function section(value: string) {
  return { type: 'rich_text_section', elements: [text(value)] };
}
