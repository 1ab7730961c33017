import { TurnLimitReached } from '../../turns/limits/turn-limit-reached.js';
import { LiveTurn } from '../../turns/live-turn.js';
import type { TurnFile } from '../../turns/turn-files.js';
import type { TurnResult } from '../../turns/turn-results.store.js';
import { SessionEnded, SessionNotFound, TurnInProgress } from '../../turns/turns.errors.js';
import { LeaseLost } from '../channel-failures.js';
import type { OpenMessage } from '../inbound/inbox.store.js';
import type { ReadMessage } from '../inbound/message-files.js';
import { REPLY_TEXTS } from '../replies/reply-text.js';
import { ConversationRun, type RunParts, type RunTerms } from './conversation-run.js';

const CLAIM = { channel: 'tg', conversation: 'c1', fence: 3, sessionId: 's-old', failures: 0 };
const message = (id: string, more: Partial<OpenMessage> = {}): OpenMessage => ({
  ...{ id, channel: 'tg', conversation: 'c1', messageId: `msg_${id}`, userId: 'tg:ada', content: 'hello' },
  isGroup: false,
  ...{ target: {}, files: [], receivedAt: new Date(), answeredAt: null, ...more },
});
const result = (status: TurnResult['status'], content: string | null = null): TurnResult => ({
  ...{
    sessionId: 's-old',
    turnId: 'turn_1',
    status,
    reason: null,
    finishReason: null,
    content,
    unseenMedia: [],
  },
});

interface Story {
  readonly messages?: readonly OpenMessage[];
  /** Successive results of the turn; the last one stays. */
  readonly results?: readonly (TurnResult | undefined)[];
  /** Errors of the first attempts to start a turn; the next attempt succeeds. */
  readonly refusals?: readonly Error[];
  readonly sessionId?: string | null;
  readonly mayStart?: boolean;
  readonly answersInResponse?: boolean;
  /** Whether storing the reply or the session finds the lease lost. */
  readonly lost?: boolean;
  readonly answer?: Promise<never>;
  /** What tools made. */
  readonly made?: readonly TurnFile[];
  readonly takesFiles?: boolean;
  /** What the person is told of files. */
  readonly notes?: string;
}

/** One run over scripted stores; `told` lists what it did, in order. */
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
      write: (_claim: unknown, _message: unknown, said: (string | TurnFile)[], status: string) =>
        hold(
          `write ${status}: ${said.map((one) => (typeof one === 'string' ? one : `<${one.name}>`)).join('|')}`,
        ),
    },
    files: {
      read: (one: OpenMessage, _adapter: unknown, _signal: unknown, begin: (read: ReadMessage) => unknown) =>
        begin({ content: one.content, attachments: [] }),
      notesFor: () => Promise.resolve(story.notes ?? ''),
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
      forgetWaiting: ({ turnId }: { turnId: string }) => tell(`forget ${turnId}`, undefined),
    },
    doneSignal: { done: (id: string) => told.push(`signal ${id}`) },
    questions: { watch: () => Promise.resolve() },
    turnFiles: {
      of: () => Promise.resolve(story.made ?? []),
      forget: (turnId: string) => tell(`forget files of ${turnId}`, undefined),
    },
  } as unknown as RunParts;
  const terms = {
    claim: { ...CLAIM, sessionId: story.sessionId === undefined ? CLAIM.sessionId : story.sessionId },
    adapter: {
      maxReplyLength: 1000,
      answersInResponse: story.answersInResponse ?? false,
      ...(story.takesFiles === true ? { sendFile: () => undefined } : {}),
    },
    streamIntervalMs: 0,
    mayStart: () => story.mayStart ?? true,
  } as unknown as RunTerms;
  return { run: new ConversationRun(parts, terms, abort.signal), told, abort };
}

test('a message is answered in the session of its conversation, with every step done once', async () => {
  const { run: one, told } = run({});
  await one.run();
  const answered = 'write pending: hello yourself';
  expect(told).toEqual(['start in s-old', answered, 'send', 'done 1', 'signal msg_1']);
});

test('what the agent could not read is named after the answer', async () => {
  const { run: one, told } = run({ notes: '(I could not read a.pdf.)' });
  await one.run();
  expect(told[1]).toBe('write pending: hello yourself\n\n(I could not read a.pdf.)');
});

test('an answer that goes into the response counts as sent', async () => {
  const { run: one, told } = run({ answersInResponse: true });
  await one.run();
  expect(told).toContain('write sent: hello yourself');
});

test('a message that was answered before a crash is only sent', async () => {
  const { run: one, told } = run({ messages: [message('1', { answeredAt: new Date() })] });
  await one.run();
  expect(told).toEqual(['send', 'done 1', 'signal msg_1']);
});

test('a message without text gets a note, without a turn', async () => {
  const { run: one, told } = run({ messages: [message('1', { content: '' })] });
  await one.run();
  expect(told[0]).toBe(`write pending: ${REPLY_TEXTS.unreadable}`);
});

describe('a turn that was started before a crash', () => {
  test('is not started again', async () => {
    const { run: one, told } = run({ results: [result('interrupted', 'hel')] });
    await one.run();
    expect(told[0]).toBe(`write pending: hel\n\n${REPLY_TEXTS.interrupted}`);
  });

  test('is waited for while it runs on another replica', async () => {
    const { run: one, told } = run({ results: [result('running'), result('running'), result('failed')] });
    await one.run();
    expect(told[0]).toBe(`write pending: ${REPLY_TEXTS.failed}`);
  });

  test('is taken from the queue and started here if it was only queued', async () => {
    const { run: one, told } = run({ results: [result('waiting'), result('completed', 'here')] });
    await one.run();
    expect(told.slice(0, 3)).toEqual(['forget turn_1', 'start in s-old', 'write pending: here']);
  });
});

test.each([
  ['has ended', new SessionEnded()],
  ['is gone', new SessionNotFound()],
])('a session that %s is replaced by a new one', async (_what, refusal) => {
  const { run: one, told } = run({ refusals: [refusal] });
  await one.run();
  expect(told.slice(0, 4)).toEqual(['start in s-old', 'create', 'remember s-new', 'start in s-new']);
});

test('a conversation without a session gets one and keeps it for the next message', async () => {
  const done = result('completed', 'yes');
  const { run: one, told } = run({
    ...{ sessionId: null, messages: [message('1'), message('2')] },
    results: [undefined, done, undefined, done],
  });
  await one.run();
  expect(told.filter((what) => /create|start/.test(what))).toEqual([
    'create',
    'start in s-new',
    'start in s-new',
  ]);
});

test('the reply to a failed turn comes from its stored result', async () => {
  const answer = Promise.reject(new Error('the provider fell over'));
  const { run: one, told } = run({ answer, results: [undefined, result('failed')] });
  await one.run();
  expect(told[1]).toBe(`write pending: ${REPLY_TEXTS.failed}`);
});

test.each(['api_token_budget', 'session_budget'] as const)(
  'a spent %s is answered with a note',
  async (limit) => {
    const { run: one, told } = run({ refusals: [new TurnLimitReached(limit, 'spent', 60)] });
    await one.run();
    expect(told).toContain(`write pending: ${REPLY_TEXTS.budgetSpent}`);
  },
);

test.each<[string, Story, number]>([
  ['the session is busy', { refusals: [new TurnInProgress(1)] }, 1000],
  ['too many turns run', { refusals: [new TurnLimitReached('replica_turns', 'full', 1)] }, 1000],
  ['the turn did not start', { results: [undefined] }, 1000],
  ['the gateway is stopping', { mayStart: false }, 0],
])('while %s nothing is sent, and the conversation is retried later', async (_what, story, afterMs) => {
  const { run: one, told } = run(story);
  await expect(one.run()).rejects.toMatchObject({ name: 'RetryLater', afterMs });
  expect(told.filter((what) => !what.startsWith('start'))).toEqual([]);
});

test('nothing is written after the lease is lost', async () => {
  const { run: one, told } = run({ lost: true });
  await expect(one.run()).rejects.toThrow(LeaseLost);
  expect(told).toEqual(['start in s-old']);
  const fresh = run({ lost: true, sessionId: null });
  await expect(fresh.run.run()).rejects.toThrow(LeaseLost);
  expect(fresh.told).toEqual(['create']);
});

test('an unexpected error is thrown, and the message stays open', async () => {
  const { run: one, told } = run({ refusals: [new Error('no database')] });
  await expect(one.run()).rejects.toThrow('no database');
  expect(told).toEqual(['start in s-old']);
});

test('the end of the lease ends the wait, and nothing more starts', async () => {
  const { run: one, told, abort } = run({ results: [result('running')] });
  const running = one.run();
  setTimeout(() => abort.abort(new LeaseLost()), 10);
  await expect(running).rejects.toThrow();
  await one.run();
  expect(told).toEqual([]);
});

describe('what tools made in the turn', () => {
  const file = (name: string, isKept = true): TurnFile => ({
    ...{ turnId: 'turn_1', step: 2, place: 1, name, mimeType: 'image/png', isKept },
  });

  test('follows the text; what was too large is named', async () => {
    const { run: one, told } = run({ made: [file('a.png'), file('b.png', false)], takesFiles: true });
    await one.run();
    expect(told[1]).toBe(
      'write pending: hello yourself\n\n(I could not send b.png: an answer may bring 10 files and 20 MiB.)|<a.png>',
    );
  });

  test('is named where the platform takes no files, and is not kept', async () => {
    const { run: one, told } = run({ made: [file('a.png')] });
    await one.run();
    expect(told.slice(1, 3)).toEqual([
      'forget files of turn_1',
      'write pending: hello yourself\n\n(I could not send a.png: files cannot be sent here.)',
    ]);
  });
});
