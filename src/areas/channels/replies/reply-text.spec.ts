import { INTERRUPTED_NOTE } from '../../turns/turn-lease.js';
import { REPLY_TEXTS, replyText } from './reply-text.js';

test.each([
  ['completed', ' hello ', 'hello'],
  ['completed', '  ', REPLY_TEXTS.failed],
  ['completed', null, REPLY_TEXTS.failed],
  ['failed', null, REPLY_TEXTS.failed],
  ['failed', 'hel', `hel\n\n${REPLY_TEXTS.failed}`],
  ['interrupted', 'hel', `hel\n\n${REPLY_TEXTS.interrupted}`],
  ['interrupted', INTERRUPTED_NOTE, REPLY_TEXTS.interrupted],
  ['cancelled', null, REPLY_TEXTS.cancelled],
] as const)('the reply to a turn that is %s with "%s"', (status, content, words) => {
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
] as const)(
  'an answer that ended with %s after "%s" does not look complete',
  (finishReason, content, words) => {
    expect(replyText({ status: 'completed', content, finishReason })).toBe(words);
  },
);
