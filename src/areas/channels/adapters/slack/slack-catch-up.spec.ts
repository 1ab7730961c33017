import { cursorAfter, cursorOf, firstCursor, SlackCatchUp, type SlackCursor } from './slack-catch-up.js';
import { type SlackConversation, type SlackHistory } from './slack-history.js';
import { type SlackMessage } from './slack-messages.js';

const NOW = Date.now() / 1000;
const at = (secs: number): string => (NOW + secs).toFixed(6);
const bot = { team: 'T1', user: 'UBOT' };
const PLACES: SlackConversation[] = [
  { id: 'C1', kind: 'channel' },
  { id: 'C2', kind: 'channel' },
  { id: 'D1', kind: 'im' },
];

interface ModelOutput {
  readonly channel: string;
  readonly ts: string;
  readonly text?: string;
  readonly thread_ts?: string;
  readonly reply_count?: number;
  readonly latest_reply?: string;
}

/** A Slack with these histories; `asked` lists its calls. */
function slack(said: readonly ModelOutput[], places = PLACES) {
  const asked: string[] = [];
  const of = (channel: string): object[] =>
    said
      .filter((one) => one.channel === channel)
      .map((one) => ({ type: 'message', user: 'UADA', text: 'x', ...one }));
  const history = {
    listConversations: () => Promise.resolve(places),
    messages: (channel: string, oldest: string) => {
      asked.push(`${channel} after ${oldest}`);
      return Promise.resolve(of(channel).filter((one) => !('thread_ts' in one) || 'latest_reply' in one));
    },
    replies: (channel: string, ts: string) => {
      asked.push(`${channel}/${ts}`);
      return Promise.resolve(of(channel).filter((one) => (one as ModelOutput).thread_ts === ts));
    },
  } as unknown as SlackHistory;
  return { history, asked };
}

async function missed(said: readonly ModelOutput[], known: string[] = [], cursor: Partial<SlackCursor> = {}) {
  const whole = { team: 'T1', bot: 'UBOT', ts: at(-60), heard: [], ...cursor };
  const { history, asked } = slack(said);
  const found = await new SlackCatchUp(history, bot, whole, known).missed();
  return { found: found.map(({ ts }) => ts), asked };
}

test('messages after the cursor are found in order of time, over all conversations', async () => {
  const said = [
    { channel: 'D1', ts: at(-10) },
    { channel: 'C1', ts: at(-20), text: '<@UBOT> hello' },
    { channel: 'D1', ts: at(-30) },
    { channel: 'D1', ts: at(-60) },
    { channel: 'D1', ts: at(-70) },
  ];
  expect((await missed(said)).found).toEqual([at(-30), at(-20), at(-10)]);
});

test('messages that the app would not have received are not answered afterwards', async () => {
  const said = [{ channel: 'C1', ts: at(-10) }];
  expect((await missed(said, ['C1/1.0'])).found).toEqual([]);
  expect((await missed(said, ['C1/1.0'], { heard: ['group'] })).found).toEqual([]);
  expect((await missed(said, ['C2/1.0'], { heard: ['channel'] })).found).toEqual([]);
  expect((await missed(said, ['C1/1.0'], { heard: ['channel'] })).found).toEqual([at(-10)]);
});

test('known threads and those with new replies are read', async () => {
  const [known, begun, quiet] = [at(-500), at(-50), at(-40)];
  const said = [
    { channel: 'C1', ts: at(-10), thread_ts: known, text: '<@UBOT> so?' },
    { channel: 'C1', ts: begun, thread_ts: begun, reply_count: 1, latest_reply: at(-9) },
    { channel: 'C1', ts: at(-9), thread_ts: begun, text: '<@UBOT> you?' },
    { channel: 'C1', ts: quiet },
  ];
  const { found, asked } = await missed(said, [`C1/${known}`]);
  expect(found).toEqual([at(-10), at(-9)]);
  expect(asked.filter((one) => one.includes('/'))).toEqual([`C1/${known}`, `C1/${begun}`]);
});

test('it reads at most a day back, in at most a hundred conversations, the latest first', async () => {
  const places = Array.from({ length: 150 }, (_, n) => ({ id: `D${n}`, kind: 'im' as const }));
  const { history, asked } = slack([], places);
  const cursor = { team: 'T1', bot: 'UBOT', ts: '1.000000', heard: [] };
  await new SlackCatchUp(history, bot, cursor, ['D140', 'D149']).missed();
  expect(asked).toHaveLength(100);
  expect(asked.slice(0, 2).map((one) => one.split(' ')[0])).toEqual(['D140', 'D149']);
  expect(Number(asked[0]?.split(' ')[2])).toBeGreaterThan(NOW - 25 * 3600);
});

const stored = { team: 'T1', bot: 'UBOT', ts: '17.5', heard: ['channel', 7] };
const message = (more: object): SlackMessage =>
  ({ type: 'message', channel: 'C1', ts: '20.0', ...more }) as unknown as SlackMessage;

test('only a cursor of this bot is resumed from', () => {
  expect(cursorOf(stored, bot)).toEqual({ ...stored, heard: ['channel', '7'] });
  expect(cursorOf({ ...stored, heard: 'channel' }, bot)?.heard).toEqual([]);
  const others = [null, { ...stored, bot: 'U2' }, { ...stored, team: 'T2' }, { ...stored, ts: 17.5 }];
  expect(others.map((one) => cursorOf(one, bot))).toEqual(others.map(() => undefined));
});

test('the first cursor lies a minute back', () => {
  const { ts, heard } = firstCursor(bot);
  expect(Date.now() / 1000 - Number(ts)).toBeCloseTo(60, 0);
  expect(heard).toEqual([]);
});

test('a cursor never goes back, and remembers the kinds of channels where the app gets every message', () => {
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
