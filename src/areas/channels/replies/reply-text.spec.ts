import fc from 'fast-check';
import { INTERRUPTED_NOTE } from '../../turns/turn-lease.js';
import { REPLY_TEXTS, replyText, splitText } from './reply-text.js';

test.each([
  ['completed', ' hello ', 'hello'],
  ['completed', '  ', REPLY_TEXTS.failed],
  ['completed', null, REPLY_TEXTS.failed],
  ['failed', null, REPLY_TEXTS.failed],
  ['failed', 'hel', `hel\n\n${REPLY_TEXTS.failed}`],
  ['interrupted', 'hel', `hel\n\n${REPLY_TEXTS.interrupted}`],
  ['interrupted', INTERRUPTED_NOTE, REPLY_TEXTS.interrupted],
  ['cancelled', null, REPLY_TEXTS.cancelled],
] as const)('a turn that is %s with "%s" is told so', (status, content, words) => {
  expect(replyText({ status, content, finishReason: status === 'completed' ? 'stop' : null })).toBe(words);
});

test.each([
  ['length', 'hel', `hel\n\n${REPLY_TEXTS.length}`],
  ['length', '', REPLY_TEXTS.tooLong],
  ['content_filter', 'hel', `hel\n\n${REPLY_TEXTS.content_filter}`],
  ['content_filter', '', REPLY_TEXTS.filtered],
  ['refusal', 'I will not.', `I will not.\n\n${REPLY_TEXTS.refusal}`],
  ['refusal', '', REPLY_TEXTS.refused],
  ['tool_calls', 'hel', 'hel'],
  [null, 'an answer of an earlier version', 'an answer of an earlier version'],
] as const)('an answer that ended with %s after "%s" does not look whole', (finishReason, content, words) => {
  expect(replyText({ status: 'completed', content, finishReason })).toBe(words);
});

test('a text that fits keeps its content and loses the white space around it', () => {
  expect(splitText(' Hello. \n', 10)).toEqual(['Hello.']);
  expect(splitText('   ', 10)).toEqual([]);
});

test('a long text is cut at the best break in the second half of a part', () => {
  expect(splitText('one two three four five six', 12)).toEqual(['one two', 'three four', 'five six']);
  expect(splitText('A first line.\nA second one that is long', 24)).toEqual([
    'A first line.',
    'A second one that is',
    'long',
  ]);
  expect(splitText('Ends here. Goes on there for a while', 16)).toEqual([
    'Ends here.',
    'Goes on there',
    'for a while',
  ]);
});

test('a text without breaks is cut between grapheme clusters', () => {
  expect(splitText('x'.repeat(25), 10)).toEqual(['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)]);
  const family = '👩‍👩‍👧‍👦';
  expect(splitText(family.repeat(3), family.length + 5)).toEqual([family, family, family]);
  expect(splitText('😀'.repeat(5), 3)).toEqual(['😀', '😀', '😀', '😀', '😀']);
  expect(splitText('é'.normalize('NFD').repeat(3), 3)).toEqual(Array(3).fill('é'.normalize('NFD')));
});

test('a grapheme cluster longer than a part is cut between code points', () => {
  const parts = splitText('👩‍👩‍👧‍👦', 4);
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
      const parts = splitText(text, longest);
      expect(parts.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      for (const part of parts) {
        expect(part.length).toBeLessThanOrEqual(longest);
        expect(part.length).toBeGreaterThan(0);
        expect(part.isWellFormed()).toBe(true);
      }
    }),
  );
});
