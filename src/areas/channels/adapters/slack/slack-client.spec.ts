import { answeringOutbound, type ScriptedAnswer } from '../../../../../test/harness/outbound-answers.js';
import { OutboundFailed, OutboundRefused } from '../../../../platform/outbound/outbound.errors.js';
import { ChannelRefused, ChannelUnreachable } from '../../channel-failures.js';
import { connectionFailure, isRefusal, isSkippable, sendFailure, slackApi } from './slack-client.js';

const ACCESS = { token: 'xoxb-1', apiUrl: '', timeoutMs: 1000 };

/** What Slack's client throws for this response. */
async function failure(answer: ScriptedAnswer): Promise<unknown> {
  const { outbound } = answeringOutbound(answer);
  const api = slackApi(outbound, ACCESS, new AbortController().signal);
  return api.auth.test().then(
    () => undefined,
    (error: unknown) => error,
  );
}

const says = (error: unknown, more: object = {}): ScriptedAnswer => ({ body: { ok: false, error, ...more } });

describe('a failed connection to Slack', () => {
  test.each<[string, ScriptedAnswer, string]>([
    [
      'a token that it does not accept',
      says('token_revoked'),
      'Slack refuses the credentials: token_revoked',
    ],
    [
      'a scope that is missing',
      says('missing_scope', { needed: 'channels:read' }),
      'Slack refuses the credentials: missing_scope (channels:read)',
    ],
    [
      'what says more than a scope',
      says('missing_scope', { needed: 'xoxb-secret <b>' }),
      'Slack refuses the credentials: missing_scope',
    ],
    [
      'an address that we do not call',
      new OutboundRefused('address'),
      "Slack's address must lead to a public",
    ],
  ])('%s is final', async (_what, answer, sentence) => {
    const told = connectionFailure(await failure(answer));
    expect(told).toBeInstanceOf(ChannelRefused);
    expect(told.message).toContain(sentence);
  });

  test.each<[string, ScriptedAnswer, string, number | undefined]>([
    ['its own trouble', says('internal_error'), 'Slack answered internal_error', undefined],
    [
      'too many calls',
      { status: 429, headers: { 'retry-after': '7' }, body: '' },
      'Slack answered 429',
      7000,
    ],
    ['too many calls, without saying how long', { status: 429, body: '' }, 'Slack answered 429', 30_000],
    ['a proxy', { status: 502, body: 'Bad Gateway' }, 'Slack answered 502', undefined],
    ['no answer in time', new OutboundFailed('timeout'), 'Slack cannot be reached: timeout', undefined],
    [
      'a connection that breaks',
      new OutboundFailed('connection_reset'),
      'Slack cannot be reached: connection reset',
      undefined,
    ],
    [
      'words that are none of its own',
      says('xoxb-secret leaks'),
      'Slack cannot be reached: the response is not understood',
      undefined,
    ],
    ['no word at all', says(7), 'Slack cannot be reached: the response is not understood', undefined],
    [
      'nonsense',
      { body: '<html>hello</html>' },
      'Slack cannot be reached: the response is not understood',
      undefined,
    ],
  ])('%s is temporary', async (_what, answer, sentence, retryAfterMs) => {
    const told = connectionFailure(await failure(answer));
    expect(told).toBeInstanceOf(ChannelUnreachable);
    expect(told).toMatchObject({ message: sentence, retryAfterMs });
  });

  test('an error that is already classified stays as it is', () => {
    const [refused, unreachable] = [new ChannelRefused('no'), new ChannelUnreachable('not now', 5)];
    expect([connectionFailure(refused), connectionFailure(unreachable)]).toEqual([refused, unreachable]);
  });
});

test.each<[ScriptedAnswer, string, string, number | undefined]>([
  [says('channel_not_found'), 'rejected', 'Slack answered channel_not_found', undefined],
  [says('msg_too_long'), 'rejected', 'Slack answered msg_too_long', undefined],
  [says('token_revoked'), 'retry', 'Slack answered token_revoked', undefined],
  [says('service_unavailable'), 'retry', 'Slack answered service_unavailable', undefined],
  [says('fatal_error'), 'unknown', 'Slack answered fatal_error', undefined],
  [{ status: 429, headers: { 'retry-after': '3' }, body: '' }, 'retry', 'Slack answered 429', 3000],
  [{ status: 503, body: '' }, 'retry', 'Slack answered 503', undefined],
  [{ status: 500, body: '' }, 'unknown', 'Slack answered 500', undefined],
  [{ status: 404, body: '' }, 'rejected', 'Slack answered 404', undefined],
  [
    new OutboundRefused('port'),
    'retry',
    "Slack's address must not use a port that is reserved for another protocol",
    undefined,
  ],
  [new OutboundFailed('connection_refused'), 'retry', 'Slack did not answer: connection refused', undefined],
  [new OutboundFailed('tls'), 'retry', 'Slack did not answer: tls', undefined],
  [new OutboundFailed('timeout'), 'unknown', 'Slack did not answer: timeout', undefined],
  [{ body: '<html>' }, 'unknown', 'Slack did not answer: the response is not understood', undefined],
])('a send that meets %j ends as: %s', async (answer, why, message, retryAfterMs) => {
  expect(sendFailure(await failure(answer))).toMatchObject({ why, message, retryAfterMs });
});

test('only errors about the token count as a refusal', async () => {
  const refused = await Promise.all([says('invalid_auth'), says('is_archived'), says(7)].map(failure));
  expect(refused.map(isRefusal)).toEqual([true, false, false]);
  expect(isRefusal(new OutboundFailed('timeout'))).toBe(false);
});

test('an unreadable conversation is skipped; an unreachable Slack is an error', async () => {
  const answers = ['missing_scope', 'not_in_channel', 'token_revoked', 'ratelimited', 'internal_error'];
  const failures = await Promise.all(answers.map((word) => failure(says(word))));
  expect(failures.map(isSkippable)).toEqual([true, true, false, false, false]);
  expect(isSkippable(new OutboundFailed('timeout'))).toBe(false);
});
