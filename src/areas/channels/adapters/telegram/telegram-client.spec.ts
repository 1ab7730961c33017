import { answeringOutbound, type ScriptedAnswer } from '../../../../../test/harness/outbound-answers.js';
import { OutboundFailed, OutboundRefused } from '../../../../platform/outbound/outbound.errors.js';
import { ChannelRefused, ChannelUnreachable } from '../../channel-failures.js';
import { connectionFailure, grammySignal, sendFailure, telegramApi } from './telegram-client.js';

const TOKEN = '1234:secret';

/** What grammY throws for this response of Telegram. */
async function failure(answer: ScriptedAnswer): Promise<unknown> {
  const { outbound } = answeringOutbound(answer);
  const api = telegramApi(outbound, { token: TOKEN, apiUrl: '', timeoutMs: 1000 });
  return api.getMe().then(
    () => undefined,
    (error: unknown) => error,
  );
}

const says = (code: number, description: string, retryAfter?: number): ScriptedAnswer => ({
  status: code,
  body: {
    ok: false,
    error_code: code,
    description,
    ...(retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } }),
  },
});

describe('a failed connection to Telegram', () => {
  test.each<[string, ScriptedAnswer, string]>([
    [
      'a token that it does not know',
      says(401, 'Unauthorized'),
      'Telegram refuses the token: 401 Unauthorized',
    ],
    ['a token that cannot be one', says(404, 'Not Found'), 'Telegram refuses the token: 404 Not Found'],
    ['an address that we do not call', new OutboundRefused('scheme'), 'api_url must be an http or https URL'],
  ])('%s is final', async (_what, answer, sentence) => {
    const told = connectionFailure(await failure(answer));
    expect(told).toBeInstanceOf(ChannelRefused);
    expect(told.message).toBe(sentence);
  });

  test.each<[string, ScriptedAnswer, string, number | undefined]>([
    ['too many calls', says(429, 'Too Many Requests', 7), 'Telegram answered 429 Too Many Requests', 7000],
    ['another reader', says(409, 'Conflict'), 'Telegram answered 409 Conflict', undefined],
    [
      'a proxy in between',
      { status: 502, body: '<html>Bad Gateway' },
      'Telegram answered 502 The response is not JSON.',
      undefined,
    ],
    ['no answer in time', new OutboundFailed('timeout'), 'Telegram cannot be reached: timeout', undefined],
    [
      'what nobody foresaw',
      new Error(`https://api.telegram.org/bot${TOKEN}/getMe`),
      'Telegram cannot be reached: the response is not understood',
      undefined,
    ],
  ])('%s is temporary, and no sentence contains the token', async (_what, answer, sentence, retryAfterMs) => {
    const told = connectionFailure(await failure(answer));
    expect(told).toBeInstanceOf(ChannelUnreachable);
    expect(told).toMatchObject({ message: sentence, retryAfterMs });
  });
});

test.each<[ScriptedAnswer, string, number | undefined]>([
  [says(400, 'Bad Request: chat not found'), 'rejected', undefined],
  [says(403, 'Forbidden: bot was blocked by the user'), 'rejected', undefined],
  [says(401, 'Unauthorized'), 'retry', undefined],
  [says(429, 'Too Many Requests', 3), 'retry', 3000],
  [says(500, 'Internal Server Error'), 'retry', undefined],
  [{ status: 502, body: 'Bad Gateway' }, 'unknown', undefined],
  [{ status: 504, body: 'Gateway Timeout' }, 'unknown', undefined],
  [new OutboundRefused('address'), 'retry', undefined],
  [new OutboundFailed('name_not_resolved'), 'retry', undefined],
  [new OutboundFailed('connection_reset'), 'unknown', undefined],
  [new Error('what nobody foresaw'), 'unknown', undefined],
])('a send that meets %j ends as: %s', async (answer, why, retryAfterMs) => {
  const told = sendFailure(await failure(answer));
  expect(told).toMatchObject({ why, retryAfterMs });
  expect(told.message).not.toContain(TOKEN);
});

test('a call whose signal is already aborted ends at once', async () => {
  const { outbound, calls } = answeringOutbound(new OutboundFailed('aborted'));
  const api = telegramApi(outbound, { token: TOKEN, apiUrl: 'http://bots.test//', timeoutMs: 1000 });
  const given = AbortSignal.abort();
  await expect(api.getMe(grammySignal(given))).rejects.toThrow();
  expect(calls.map(({ url, signal }) => [url, signal?.aborted])).toEqual([
    [`http://bots.test/bot${TOKEN}/getMe`, true],
  ]);
});
