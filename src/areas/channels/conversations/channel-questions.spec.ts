import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { NotSent, type NotSentKind } from '../channel-failures.js';
import type { OpenMessage } from '../inbound/inbox.store.js';
import { ChannelQuestions } from './channel-questions.js';

const ASKED_AT = new Date(1000);
const SHOWN_AT = new Date(5000);
const QUESTION = {
  ...{ id: 'ques_1', tool: 'trip__ask', message: 'How many?', askedAt: ASKED_AT },
  ...{ schema: { type: 'object', properties: {} }, expiresAt: new Date(Date.now() + 60_000) },
};
const MESSAGE = {
  id: '1',
  channel: 'tg',
  userId: 'tg:7',
  target: {},
  isGroup: false,
} as unknown as OpenMessage;

const aborts: AbortController[] = [];
const watches: Promise<void>[] = [];
afterAll(async () => {
  for (const abort of aborts) abort.abort();
  await Promise.all(watches);
});

/** A person is asked, and their message lies in the inbox; the sending fails as often as there are failures. */
function watching(failures: NotSent[]) {
  const seen = { sends: 0, looks: 0, after: [] as Date[], sendsThen: 0, answers: [] as unknown[] };
  const parts = [
    {
      findFor: () => {
        seen.looks += 1;
        return Promise.resolve(seen.answers.length === 0 ? QUESTION : undefined);
      },
      answer: (_id: string, answer: unknown) => Promise.resolve(seen.answers.push(answer) > 0),
    },
    {
      now: () => Promise.resolve(SHOWN_AT),
      replyTo: (_message: OpenMessage, after: Date) => {
        seen.after.push(after);
        seen.sendsThen = seen.sends;
        return Promise.resolve({ ...MESSAGE, id: '2', content: 'yes' });
      },
    },
    new Redactor(),
    silentLogs,
  ] as unknown as ConstructorParameters<typeof ChannelQuestions>;
  const send = () => {
    seen.sends += 1;
    const failure = failures.shift();
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  };
  const abort = new AbortController();
  aborts.push(abort);
  const person = { message: MESSAGE, sessionId: 'ses_1', adapter: { maxReplyLength: 4000, send } };
  const questions = new ChannelQuestions(...parts);
  watches.push(questions.watch(person as unknown as Parameters<typeof questions.watch>[0], abort.signal));
  return seen;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(20);
}

test.concurrent('a message written since the question was shown may answer it', async () => {
  const seen = watching([]);
  await until(() => seen.answers.length > 0);
  expect([seen.sends, seen.after, seen.answers]).toEqual([
    1,
    [SHOWN_AT],
    [{ action: 'accept', content: {} }],
  ]);
});

test.concurrent('a question that was not sent is sent again, and cannot be answered before', async () => {
  const seen = watching([new NotSent('retry', 'busy')]);
  await until(() => seen.answers.length > 0);
  expect([seen.sendsThen, seen.after]).toEqual([2, [SHOWN_AT]]);
});

test.concurrent.each<NotSentKind>(['rejected', 'unknown'])(
  'no message answers a question whose sending was %s',
  async (why) => {
    const seen = watching([new NotSent(why, 'no')]);
    await until(() => seen.looks >= 4);
    expect([seen.sends, seen.after, seen.answers]).toEqual([1, [], []]);
  },
);
