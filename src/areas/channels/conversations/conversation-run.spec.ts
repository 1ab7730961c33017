import { SessionEnded, SessionNotFound, TurnInProgress } from '../../sessions/sessions.errors.js';
import { TurnLimitReached } from '../../turns/limits/turn-limit-reached.js';
import { LiveTurn } from '../../turns/live-turn.js';
import type { TurnResult } from '../../turns/turn-results.store.js';
import { LeaseLost } from '../channel-failures.js';
import type { OpenMessage } from '../inbound/inbox.store.js';
import { REPLY_TEXTS } from '../replies/reply-text.js';
import { ConversationRun, type RunParts, type RunTerms } from './conversation-run.js';

const CLAIM = { channel: 'tg', conversation: 'c1', fence: 3, sessionId: 's-old', failures: 0 };
const message = (id: string, more: Partial<OpenMessage> = {}): OpenMessage => ({
  ...{ id, channel: 'tg', conversation: 'c1', messageId: `msg_${id}`, userId: 'tg:ada', content: 'hello' },
  isGroup: false,
  ...{ target: {}, receivedAt: new Date(), isAnswered: false, ...more },
});
const result = (status: TurnResult['status'], content: string | null = null): TurnResult => ({
  ...{ sessionId: 's-old', turnId: 'turn_1', status, reason: null, finishReason: null, content },
});

interface Story {
  readonly messages?: readonly OpenMessage[];
  /** What is known of a message's turn, one look after the other; the last look stays. */
  readonly results?: readonly (TurnResult | undefined)[];
  /** What becomes of beginning a turn, one after the other; then it is begun. */
  readonly refusals?: readonly Error[];
  readonly sessionId?: string | null;
  readonly mayStart?: boolean;
  readonly answersInResponse?: boolean;
  /** What is lost when it is to be written or the session to be remembered. */
  readonly lost?: boolean;
  readonly answer?: Promise<never>;
}

/** One run over scripted stores; `told` is what it did, in its order. */
function run(story: Story) {
  const told: string[] = [];
  const tell = <T>(what: string, value: T): Promise<T> => {
    told.push(what);
    return Promise.resolve(value);
  };
  const hold = (what: string): Promise<void> =>
    story.lost === true ? Promise.reject(new LeaseLost()) : tell(what, undefined);
  const waiting = [...(story.messages ?? [message('1')])];
  const results = [...(story.results ?? [undefined, result('completed', 'hello yourself')])];
  const refusals = [...(story.refusals ?? [])];
  const abort = new AbortController();
  const parts = {
    inbox: {
      next: () => Promise.resolve(waiting[0]),
      done: ({ id }: OpenMessage) => {
        waiting.shift();
        return tell(`done ${id}`, undefined);
      },
    },
    replies: {
      write: (_claim: unknown, _message: unknown, said: string[], status: string) =>
        hold(`write ${status}: ${said.join('|')}`),
    },
    sender: { send: () => tell('send', undefined) },
    conversations: { setSession: (_claim: unknown, id: string) => hold(`remember ${id}`) },
    sessions: { create: () => tell('create', { id: 's-new' }) },
    messages: {
      start: (sessionId: string) => {
        told.push(`start in ${sessionId}`);
        const refusal = refusals.shift();
        if (refusal !== undefined) return Promise.reject(refusal);
        const answer = story.answer ?? Promise.resolve();
        return Promise.resolve({ live: new LiveTurn(sessionId, 'turn_1'), answer });
      },
    },
    results: {
      of: () => Promise.resolve(results.length > 1 ? results.shift() : results[0]),
      forgetWaiting: (turnId: string) => tell(`forget ${turnId}`, undefined),
    },
    doneSignal: { done: (id: string) => told.push(`signal ${id}`) },
  } as unknown as RunParts;
  const terms = {
    claim: { ...CLAIM, sessionId: story.sessionId === undefined ? CLAIM.sessionId : story.sessionId },
    adapter: { longestReply: 1000, answersInResponse: story.answersInResponse ?? false },
    streamIntervalMs: 0,
    mayStart: () => story.mayStart ?? true,
  } as unknown as RunTerms;
  return { run: new ConversationRun(parts, terms, abort.signal), told, abort };
}

test('a message is answered in the session of its conversation, and nothing is done twice', async () => {
  const { run: one, told } = run({});
  await one.toItsEnd();
  const answered = 'write pending: hello yourself';
  expect(told).toEqual(['start in s-old', answered, 'send', 'done 1', 'signal msg_1']);
});

test('an answer that is fetched by whoever asked counts as sent', async () => {
  const { run: one, told } = run({ answersInResponse: true });
  await one.toItsEnd();
  expect(told).toContain('write sent: hello yourself');
});

test('what was answered before the crash is only sent', async () => {
  const { run: one, told } = run({ messages: [message('1', { isAnswered: true })] });
  await one.toItsEnd();
  expect(told).toEqual(['send', 'done 1', 'signal msg_1']);
});

test('what cannot be read is said to be so, without a turn', async () => {
  const { run: one, told } = run({ messages: [message('1', { content: '' })] });
  await one.toItsEnd();
  expect(told[0]).toBe(`write pending: ${REPLY_TEXTS.unreadable}`);
});

describe('a turn that was begun before the crash', () => {
  test('is not begun again', async () => {
    const { run: one, told } = run({ results: [result('interrupted', 'hel')] });
    await one.toItsEnd();
    expect(told[0]).toBe(`write pending: hel\n\n${REPLY_TEXTS.interrupted}`);
  });

  test('is waited for while it runs elsewhere', async () => {
    const { run: one, told } = run({ results: [result('running'), result('running'), result('failed')] });
    await one.toItsEnd();
    expect(told[0]).toBe(`write pending: ${REPLY_TEXTS.failed}`);
  });

  test('and only stood in its line is taken out of it and begun here', async () => {
    const { run: one, told } = run({ results: [result('waiting'), result('completed', 'here')] });
    await one.toItsEnd();
    expect(told.slice(0, 3)).toEqual(['forget turn_1', 'start in s-old', 'write pending: here']);
  });
});

test.each([
  ['has ended', new SessionEnded()],
  ['is gone', new SessionNotFound()],
])('a session that %s is followed by a new one', async (_what, refusal) => {
  const { run: one, told } = run({ refusals: [refusal] });
  await one.toItsEnd();
  expect(told.slice(0, 4)).toEqual(['start in s-old', 'create', 'remember s-new', 'start in s-new']);
});

test('a conversation without a session gets one, and keeps it for its next message', async () => {
  const done = result('completed', 'yes');
  const { run: one, told } = run({
    ...{ sessionId: null, messages: [message('1'), message('2')] },
    results: [undefined, done, undefined, done],
  });
  await one.toItsEnd();
  expect(told.filter((what) => /create|start/.test(what))).toEqual([
    'create',
    'start in s-new',
    'start in s-new',
  ]);
});

test('a turn that fails is told from what was stored of it', async () => {
  const answer = Promise.reject(new Error('the provider fell over'));
  const { run: one, told } = run({ answer, results: [undefined, result('failed')] });
  await one.toItsEnd();
  expect(told[1]).toBe(`write pending: ${REPLY_TEXTS.failed}`);
});

test.each(['api_token_budget', 'session_budget'] as const)('a spent %s is an answer', async (limit) => {
  const { run: one, told } = run({ refusals: [new TurnLimitReached(limit, 'spent', 60)] });
  await one.toItsEnd();
  expect(told).toContain(`write pending: ${REPLY_TEXTS.budgetSpent}`);
});

test.each<[string, Story, number]>([
  ['the session is busy', { refusals: [new TurnInProgress(1)] }, 1000],
  ['too many turns run', { refusals: [new TurnLimitReached('replica_turns', 'full', 1)] }, 1000],
  ['the turn was not begun', { results: [undefined] }, 1000],
  ['the gateway stops', { mayStart: false }, 0],
])('while %s somebody looks again later, and nothing is said', async (_what, story, afterMs) => {
  const { run: one, told } = run(story);
  await expect(one.toItsEnd()).rejects.toMatchObject({ name: 'LookLater', afterMs });
  expect(told.filter((what) => !what.startsWith('start'))).toEqual([]);
});

test('whoever has lost the lease says nothing', async () => {
  const { run: one, told } = run({ lost: true });
  await expect(one.toItsEnd()).rejects.toThrow(LeaseLost);
  expect(told).toEqual(['start in s-old']);
  const fresh = run({ lost: true, sessionId: null });
  await expect(fresh.run.toItsEnd()).rejects.toThrow(LeaseLost);
  expect(fresh.told).toEqual(['create']);
});

test('what nobody expected is thrown, and the message stays', async () => {
  const { run: one, told } = run({ refusals: [new Error('no database')] });
  await expect(one.toItsEnd()).rejects.toThrow('no database');
  expect(told).toEqual(['start in s-old']);
});

test('the end of the lease ends the waiting, and nothing more is begun', async () => {
  const { run: one, told, abort } = run({ results: [result('running')] });
  const running = one.toItsEnd();
  setTimeout(() => abort.abort(new LeaseLost()), 10);
  await expect(running).rejects.toThrow();
  await one.toItsEnd();
  expect(told).toEqual([]);
});
