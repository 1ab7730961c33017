import { INTERRUPTED_NOTE } from '../../turns/turn-lease.js';
import { WORDS, wordsFor } from './reply-words.js';

test.each([
  ['completed', ' hello ', 'hello'],
  ['completed', '  ', WORDS.failed],
  ['completed', null, WORDS.failed],
  ['failed', null, WORDS.failed],
  ['failed', 'hel', `hel\n\n${WORDS.failed}`],
  ['interrupted', 'hel', `hel\n\n${WORDS.interrupted}`],
  ['interrupted', INTERRUPTED_NOTE, WORDS.interrupted],
  ['cancelled', null, WORDS.cancelled],
] as const)('a turn that is %s with "%s" is told so', (status, content, words) => {
  expect(wordsFor({ status, content, finishReason: status === 'completed' ? 'stop' : null })).toBe(words);
});

test.each([
  ['length', 'hel', `hel\n\n${WORDS.length}`],
  ['length', '', WORDS.tooLong],
  ['content_filter', 'hel', `hel\n\n${WORDS.content_filter}`],
  ['content_filter', '', WORDS.filtered],
  ['refusal', 'I will not.', `I will not.\n\n${WORDS.refusal}`],
  ['refusal', '', WORDS.refused],
  ['tool_calls', 'hel', 'hel'],
  [null, 'an answer of an earlier version', 'an answer of an earlier version'],
] as const)('an answer that ended with %s after "%s" does not look whole', (finishReason, content, words) => {
  expect(wordsFor({ status: 'completed', content, finishReason })).toBe(words);
});
