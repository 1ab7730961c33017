import { INTERRUPTED_NOTE } from '../../sessions/turn-lease.js';
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
  expect(wordsFor({ status, content })).toBe(words);
});
