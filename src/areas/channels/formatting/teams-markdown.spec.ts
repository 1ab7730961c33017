import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { textOfBlocks } from './formatted-text.js';
import { parseMarkdown } from './markdown.js';
import { teamsMarkdown, teamsText } from './teams-markdown.js';

/** What people read of Markdown, without its white space. */
const readable = (markdown: string): string =>
  textOfBlocks(parseMarkdown(markdown)).replace(/\s+/g, '').replaceAll('%28', '(').replaceAll('%29', ')');

test.each([
  [
    '# Title\n\nA **bold** [page](https://example.com/a_(b))',
    '**Title**\n\nA **bold** [page](https://example.com/a_%28b%29)',
  ],
  ['1 < 2 & *so* on', '1 < 2 & *so* on'],
  ['set ANTHROPIC_API_KEY or OPENAI_API_KEY', 'set ANTHROPIC_API_KEY or OPENAI_API_KEY'],
  ['2 * 3 * 4, a #hash, ~5 and [sic]', '2 * 3 * 4, a #hash, ~5 and [sic]'],
  ['C:\\new, a|b, x -> y, R&D, 5* and _', 'C:\\new, a|b, x -> y, R&amp;D, 5* and _'],
  ['\\_kept\\_ beside snake_case', '\\_kept\\_ beside snake_case'],
  ['\\_kept\\_ and \\*so\\* on', '\\_kept\\_ and \\*so\\* on'],
  ['wow\\![it](https://example.com)', 'wow\\![it](https://example.com)'],
  ['<at>everyone</at>', '&lt;at&gt;everyone&lt;/at&gt;'],
  ['- one\n- two', '- one\n\n- two'.replace('\n\n', '\n')],
  ['```js\nlet a = `b`;\n```', '```js\nlet a = `b`;\n```'],
  ['> said\n> so', '> said  \n> so'],
  ['1990\\. A year', '1990\\. A year'],
])('%j is shown by Teams as %j', (markdown, shown) => {
  expect(teamsMarkdown(markdown)).toBe(shown);
});

/** Everything that Markdown can begin with, end with, or read as more than letters. */
const piece = fc.constantFrom(
  ...['*', '_', '**', '`', '```', '\n', '\n\n', '- ', '1. ', '# ', '> ', '<b>', '&lt;', '|', '~~', '[', ']('],
  ...[
    ')',
    ' ',
    'a',
    'word',
    'https://example.com',
    '\\',
    '+',
    '=',
    '---',
    '😀',
    '@',
    ']: ',
    '!',
    '&',
    ';',
    '~',
  ],
  ...['|-|', ':-', '[x] ', '1) ', '<', '>', '™', 'é'],
);
const written = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

test('whatever was written, people read the same letters', () => {
  fc.assert(
    fc.property(written, (markdown) => {
      expect(readable(teamsMarkdown(markdown))).toBe(readable(markdown));
    }),
    { numRuns: 2000 },
  );
});

/** Reads all that CommonMark and GitHub's tables have, also what we do not write. */
const everything = new MarkdownIt({ html: true });
/** What is no part of the subset that Teams is given. */
const FOREIGN = /^(?:html_|heading|table|image|hr$|s_)/;

function readByAnother(markdown: string): { letters: string; foreign: readonly string[] } {
  const tokens = everything.parse(markdown, {}).flatMap((token) => [token, ...(token.children ?? [])]);
  const leaves = tokens.filter(({ type }) =>
    /^(?:text|text_special|code_inline|fence|code_block)$/.test(type),
  );
  return {
    letters: leaves
      .map(({ content }) => content)
      .join('')
      .replace(/\s+/g, ''),
    foreign: tokens.map(({ type }) => type).filter((type) => FOREIGN.test(type)),
  };
}

test('characters that are no marks are none for a reader of full Markdown either', () => {
  const letters = written.filter((text) => text.trim() !== '');
  fc.assert(
    fc.property(letters, (text) => {
      const runs = [{ text: text.trim(), style: {} }];
      const { letters: read, foreign } = readByAnother(teamsText([{ kind: 'paragraph', runs }]) ?? '');
      expect({ read, foreign }).toEqual({ read: text.replace(/\s+/g, ''), foreign: [] });
    }),
    { numRuns: 5000 },
  );
});
