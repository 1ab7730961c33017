import { answeringOutbound, type ScriptedAnswer } from '../../../../../test/harness/outbound-answers.js';
import { OutboundFailed } from '../../../../platform/outbound/outbound.errors.js';
import {
  cursorAfter,
  cursorOf,
  firstCursor,
  SlackCatchUp,
  type SlackConversation,
  type SlackCursor,
  SlackHistory,
} from './slack-catch-up.js';
import { slackApi } from './slack-client.js';
import type { SlackMessage } from './slack-messages.js';

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

const ok = (fields: object): ScriptedAnswer => ({ body: { ok: true, ...fields } });
const busy = (secs: number): ScriptedAnswer => ({
  status: 429,
  headers: { 'retry-after': String(secs) },
  body: '',
});

function history(...answers: ScriptedAnswer[]) {
  const { outbound, calls } = answeringOutbound(...answers);
  const abort = new AbortController();
  const access = { token: 'xoxb-1', apiUrl: 'http://slack.test/api/', timeoutMs: 1000 };
  const api = slackApi(outbound, access, abort.signal);
  return { history: new SlackHistory(api, abort.signal), calls, abort };
}

test('kinds of conversations match the channel_type of events', async () => {
  const { history: slack } = history(
    ok({
      channels: [
        { id: 'D1', is_im: true },
        { id: 'G1', is_mpim: true },
        { id: 'G2', is_private: true },
        { id: 'G3', is_group: true },
        { id: 'C1', is_channel: true },
        { is_channel: true },
      ],
    }),
  );
  const found = await slack.listConversations();
  expect(found.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
    'D1 im',
    'G1 mpim',
    'G2 group',
    'G3 group',
    'C1 channel',
  ]);
});

test('pages are followed to the end, at most five', async () => {
  const two = history(
    ok({ messages: [{ ts: '1' }], response_metadata: { next_cursor: 'second' } }),
    ok({ messages: [{ ts: '2' }], response_metadata: { next_cursor: '' } }),
  );
  expect(await two.history.messages('C1', '0')).toEqual([{ ts: '1' }, { ts: '2' }]);
  expect(two.calls.map(({ body }) => new URLSearchParams(String(body)).get('cursor'))).toEqual([
    null,
    'second',
  ]);
  const endless = history(ok({ messages: [{ ts: '1' }], response_metadata: { next_cursor: 'more' } }));
  expect(await endless.history.replies('C1', '1', '0')).toHaveLength(5);
});

test('an empty response contains no message', async () => {
  const { history: slack } = history(ok({}));
  expect([
    await slack.listConversations(),
    await slack.messages('C1', '0'),
    await slack.replies('C1', '1', '0'),
  ]).toEqual([[], [], []]);
});

test('it waits when Slack asks for it, and continues', async () => {
  const { history: slack, calls } = history(busy(0), busy(0), ok({ messages: [{ ts: '1' }] }));
  expect(await slack.messages('C1', '0')).toEqual([{ ts: '1' }]);
  expect(calls).toHaveLength(3);
});

test('it waits at most a minute, and at most ten times', async () => {
  const long = history(busy(61));
  await expect(long.history.listConversations()).rejects.toThrow();
  expect(long.calls).toHaveLength(1);
  const again = history(busy(0));
  await expect(again.history.listConversations()).rejects.toThrow();
  expect(again.calls).toHaveLength(11);
});

test('the end of the connection ends the wait', async () => {
  const { history: slack, abort } = history(busy(50));
  const asked = slack.listConversations();
  setTimeout(() => abort.abort(), 10);
  await expect(asked).rejects.toThrow('aborted');
});

test('a conversation that the bot may not read is skipped; a failing Slack is an error', async () => {
  const closed = history({ body: { ok: false, error: 'not_in_channel' } });
  expect([await closed.history.messages('C1', '0'), await closed.history.replies('C1', '1', '0')]).toEqual([
    [],
    [],
  ]);
  const down = history(new OutboundFailed('connection_reset'));
  await expect(down.history.messages('C1', '0')).rejects.toThrow();
  const revoked = history({ body: { ok: false, error: 'token_revoked' } });
  await expect(revoked.history.replies('C1', '1', '0')).rejects.toThrow('token_revoked');
});
