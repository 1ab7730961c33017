import { callEventId, parseCallEventId } from './call-ids.js';

test.each([
  [1, undefined],
  ['a', 7],
  ['é'.repeat(256), '\u0000'.repeat(256)],
  ['\ud800'.repeat(256), '\ud800'.repeat(256)],
])('an id of an event is read as it was written, however its call is named', (requestId, progressToken) => {
  const event = { requestId, progressToken, position: 999_999_999 };
  expect(parseCallEventId(callEventId(event))).toEqual(event);
});
