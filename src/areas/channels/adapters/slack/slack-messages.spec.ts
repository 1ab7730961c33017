import { literalText } from '../../formatting/slack-blocks.js';
import { mentions, readableText } from './slack-messages.js';

test.each([
  ['<@UBOT> hello', 'hello'],
  ['hello <@UBOT|agent>, <@U1|ada> and <@U2>', 'hello , @ada and @U2'],
  [
    'see <https://example.com/a?b=1&amp;c=2|this> or <https://example.com>',
    'see this (https://example.com/a?b=1&c=2) or https://example.com',
  ],
  [
    '<mailto:ada@example.com|ada@example.com> in <#C1|general> or <#C2>',
    'ada@example.com (mailto:ada@example.com) in #general or #C2',
  ],
  ['<!here> and <!subteam^S1|@team>', '@here and @@team'],
  ['1 &lt; 2 &amp;&amp; 3 &gt; 2, not &amp;lt;', '1 < 2 && 3 > 2, not &lt;'],
])('%s', (text, read) => {
  expect(readableText(text, 'UBOT')).toBe(read);
});

test("only the bot's own id is a mention, not a longer one that starts with it", () => {
  expect(mentions('<@UBOT>?', 'UBOT')).toBe(true);
  expect(mentions('<@UBOTHER>', 'UBOT')).toBe(false);
  expect(mentions('@UBOT', 'UBOT')).toBe(false);
});

test('an answer cannot notify anyone, and reads as it was written', () => {
  const said = 'if (a < b && b > c) <!channel> <@U1>';
  expect(literalText(said)).not.toMatch(/[<>]/);
  expect(readableText(literalText(said), 'UBOT')).toBe(said);
});

test('reading takes time linear in the length of the text', () => {
  const startedAt = performance.now();
  readableText('<@'.repeat(20_000), 'UBOT');
  readableText(`<${'a|'.repeat(20_000)}`, 'UBOT');
  expect(performance.now() - startedAt).toBeLessThan(5000);
});
