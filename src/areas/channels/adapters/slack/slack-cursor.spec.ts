import { cursorAfter, cursorOf, firstCursor } from './slack-cursor.js';
import type { SlackMessage } from './slack-messages.js';

const bot = { team: 'T1', user: 'UBOT' };
const stored = { team: 'T1', bot: 'UBOT', ts: '17.5', heard: ['channel', 7] };
const message = (more: object): SlackMessage =>
  ({ type: 'message', channel: 'C1', ts: '20.0', ...more }) as unknown as SlackMessage;

test('what was stored by this bot is gone on from, and nothing else', () => {
  expect(cursorOf(stored, bot)).toEqual({ ...stored, heard: ['channel', '7'] });
  expect(cursorOf({ ...stored, heard: 'channel' }, bot)?.heard).toEqual([]);
  const others = [null, { ...stored, bot: 'U2' }, { ...stored, team: 'T2' }, { ...stored, ts: 17.5 }];
  expect(others.map((one) => cursorOf(one, bot))).toEqual(others.map(() => undefined));
});

test('the first look goes back for a minute', () => {
  const { ts, heard } = firstCursor(bot);
  expect(Date.now() / 1000 - Number(ts)).toBeCloseTo(60, 0);
  expect(heard).toEqual([]);
});

test('a cursor never goes back, and remembers in what kinds of places the app is told of everything', () => {
  const cursor = { ...stored, heard: ['channel'] };
  const said = [
    message({ ts: '19.0', channel_type: 'group' }),
    message({ ts: '16.0', channel_type: 'channel' }),
    message({ ts: '18.0', channel_type: 'im', channel: 'D1' }),
    message({ ts: '18.5', type: 'app_mention', channel_type: 'mpim' }),
    message({ ts: '18.6' }),
  ];
  expect(cursorAfter(cursor, said)).toEqual({ ...cursor, ts: '19.0', heard: ['channel', 'group'] });
});
