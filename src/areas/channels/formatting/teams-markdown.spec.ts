import fc from 'fast-check';
import { textOfBlocks } from './formatted-text.js';
import { parseMarkdown } from './markdown.js';
import { teamsMarkdown } from './teams-markdown.js';

/** What people read of Markdown, without its white space. */
const readable = (markdown: string): string => textOfBlocks(parseMarkdown(markdown)).replace(/\s+/g, '');

test.each([
  [
    '# Title\n\nA **bold** [page](https://example.com/a_(b))',
    '**Title**\n\nA **bold** [page](https://example.com/a_%28b%29)',
  ],
  ['1 < 2 & *so* on', '1 &lt; 2 &amp; *so* on'],
  ['<at>everyone</at>', '&lt;at&gt;everyone&lt;/at&gt;'],
  ['- one\n- two', '- one\n\n- two'.replace('\n\n', '\n')],
  ['```js\nlet a = `b`;\n```', '```js\nlet a = `b`;\n```'],
  ['> said\n> so', '> said  \n> so'],
  ['1990\\. A year', '1990\\. A year'],
])('%j is shown by Teams as %j', (markdown, shown) => {
  expect(teamsMarkdown(markdown)).toBe(shown);
});

test('whatever was written, people read the same letters', () => {
  const piece = fc.constantFrom(
    ...[
      '*',
      '_',
      '**',
      '`',
      '```',
      '\n',
      '\n\n',
      '- ',
      '1. ',
      '# ',
      '> ',
      '<b>',
      '&lt;',
      '|',
      '~~',
      '[',
      '](',
      ')',
      ' ',
    ],
    ...['a', 'word', 'https://example.com', '\\', '+', '=', '---', '😀', '@'],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const markdown = pieces.join('');
      expect(readable(teamsMarkdown(markdown))).toBe(readable(markdown));
    }),
    { numRuns: 2000 },
  );
});
