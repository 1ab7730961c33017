import { answeringOutbound, type ScriptedAnswer } from '../../../../../test/harness/outbound-answers.js';
import { OutboundFailed } from '../../../../platform/outbound/outbound.errors.js';
import { slackApi } from './slack-client.js';
import { SlackHistory } from './slack-history.js';

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
