import fc from 'fast-check';
import { telegramText } from './telegram-text.js';

/** The text with each entity as `⟨type|text⟩`. */
function shown(markdown: string): string {
  const { text, entities } = telegramText(markdown, 4096);
  const marks = entities.flatMap(({ type, offset, length }, index) => [
    { at: offset, order: index, mark: `⟨${type}|` },
    { at: offset + length, order: -index - 1, mark: '⟩' },
  ]);
  marks.sort((one, other) => one.at - other.at || one.order - other.order);
  let result = '';
  let done = 0;
  for (const { at, mark } of marks) {
    result += text.slice(done, at) + mark;
    done = at;
  }
  return result + text.slice(done);
}

test.each([
  [
    '**bold**, *italic*, ~~gone~~ and `code`',
    '⟨bold|bold⟩, ⟨italic|italic⟩, ⟨strikethrough|gone⟩ and ⟨code|code⟩',
  ],
  ['**bold *and italic***', '⟨bold|bold ⟩⟨bold|⟨italic|and italic⟩⟩'],
  ['# Title\nText', '⟨bold|Title⟩\n\nText'],
  ['see [the page](https://example.com/a_b)', 'see ⟨text_link|the page⟩'],
  ['[click](javascript:alert(1))', '[click](javascript:alert(1))'],
  ['![a cat](https://example.com/cat.png)', '⟨text_link|a cat⟩'],
  ['- one\n- two\n  - deeper\n- three', '• one\n• two\n   • deeper\n• three'],
  ['3. three\n4. four', '3. three\n4. four'],
  ['```js\nconst a = "**b**";\n```', '⟨pre|const a = "**b**";⟩'],
  ['```js\nconst open = 1;', '⟨pre|const open = 1;⟩'],
  ['> said\n> again', '⟨blockquote|said\nagain⟩'],
  ['a\n\n---\n\nb', 'a\n\n———\n\nb'],
  ['| a | bb |\n|---|---|\n| 1 | 2 |', '⟨pre|a | bb\n--+---\n1 | 2⟩'],
  ['<b>not bold</b> & <script>', '<b>not bold</b> & <script>'],
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['first\n    Ada (7): second', 'first\n    Ada (7): second'],
  ['[note]: https://example.com', '[note]: https://example.com'],
  ['Title\n---', 'Title\n\n———'],
])('%j is shown as %j', (markdown, expected) => {
  expect(shown(markdown)).toBe(expected);
});

test('a table that is too wide for a phone becomes a paragraph for each row, with its columns named', () => {
  const long = 'a long cell '.repeat(5).trim();
  expect(shown(`| Name | Text |\n|---|---|\n| one | ${long} |\n| two | b |`)).toBe(
    `⟨bold|Name: ⟩one\n⟨bold|Text: ⟩${long}\n\n⟨bold|Name: ⟩two\n⟨bold|Text: ⟩b`,
  );
});

test('text that formatting would make too long stays as it was written', () => {
  const table = `| a | b |\n|---|---|\n| ${'x'.repeat(40)} | y |\n${'| 1 | 2 |\n'.repeat(3)}`;
  expect(telegramText(table, table.length)).toEqual({ text: table, entities: [] });
});

const pieces = [
  'a',
  'Жд',
  '中',
  '👍🏽',
  '*',
  '**',
  '_',
  '`',
  '```',
  '~~',
  '[',
  '](',
  ')',
  '<b>',
  '&amp',
  '|',
  '-',
  '#',
  '>',
  '1.',
  ' ',
  '\n',
  '\n\n',
  '  ',
];
const anything = fc.string({ unit: fc.constantFrom(...pieces), maxLength: 200 });

test('whatever is written, each entity covers characters of the text, and no letter is lost', () => {
  fc.assert(
    fc.property(anything, (markdown) => {
      const { text, entities } = telegramText(markdown, 4096);
      for (const { offset, length } of entities) {
        expect(length).toBeGreaterThan(0);
        expect(offset + length).toBeLessThanOrEqual(text.length);
        expect(text.slice(offset, offset + length).isWellFormed()).toBe(true);
      }
      // The word behind a fence names its language, and an address may stand behind a link.
      if (!/```|~~~|\]\(/.test(markdown)) expect(lettersOf(text)).toBe(lettersOf(markdown));
    }),
    { numRuns: 1500 },
  );
});

const words = fc.string({
  unit: fc.constantFrom('a', 'b', 'Ж', '中', '👍🏽', ' ', '.', '*', '_', '`', '<', '&', '[', '|'),
  maxLength: 30,
});

test('text that is escaped or stands in code arrives unchanged', () => {
  fc.assert(
    fc.property(words, (written) => {
      const text = written.trim().replace(/ +/g, ' ');
      const escaped = text.replace(/[!-/:-@[-`{-~]/g, '\\$&');
      expect(telegramText(escaped, 4096).text).toBe(text);
      const code = `~~~\n${written}\n~~~`;
      if (written.trim() !== '') expect(telegramText(code, 4096).text).toBe(written);
    }),
    { numRuns: 1500 },
  );
});

test('deep nesting is shown as it was written, in time linear in its length', () => {
  for (const hostile of [
    '>'.repeat(4000),
    '- '.repeat(2000),
    '['.repeat(4000),
    '*'.repeat(4000),
    '`'.repeat(4000),
    '![]('.repeat(1000),
  ]) {
    expect(telegramText(`${hostile}end`, 4096).text).toContain('end');
  }
});

function lettersOf(text: string): string {
  return text.replace(/[^a-zЖд中👍]/gu, '');
}
