import { Readiness } from '../../../platform/lifecycle/readiness.js';
import { type Logs, silentLogs } from '../../../platform/logging/logger.js';
import { LeaseLost, RetryLater } from '../channel-failures.js';
import type { OpenMessage } from '../inbound/inbox.store.js';
import type { ConversationClaim } from './conversation.store.js';
import { ConversationWorker } from './conversation-worker.service.js';

const claimOf = (conversation: string, failures = 0): ConversationClaim => ({
  ...{ channel: 'tg', conversation, fence: 1, sessionId: 's', failures },
});
const MESSAGE = { id: '1', messageId: 'msg_1', answeredAt: new Date(0) } as OpenMessage;

interface Scene {
  /** Results of successive claims. */
  readonly claims?: (ConversationClaim[] | Error)[];
  /** What sending does; succeeds by default. */
  readonly send?: (signal: AbortSignal) => Promise<void>;
  readonly kept?: () => ReadonlySet<string>;
  readonly names?: readonly string[];
  readonly release?: () => Promise<void>;
  readonly isDraining?: boolean;
}

const workers: ConversationWorker[] = [];
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(workers.splice(0).map((worker) => worker.onModuleDestroy()));
});

/** A worker whose conversations have one message each, which is answered and only has to be sent. */
function start(scene: Scene) {
  const told: string[] = [];
  const claims = [...(scene.claims ?? [])];
  let asked = 0;
  const sent = new Set<string>();
  const conversations = {
    claim: () => {
      asked += 1;
      const next = claims.shift() ?? [];
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    renew: () => Promise.resolve(scene.kept?.() ?? new Set()),
    release: ({ conversation }: ConversationClaim, retryInMs: number | null, failures: number) => {
      const when = retryInMs === null ? 'done' : retryInMs > 0 ? 'later' : 'now';
      told.push(`release ${conversation}: ${when}, ${failures} failures`);
      return scene.release?.() ?? Promise.resolve();
    },
  };
  const inbox = {
    next: (_channel: string, conversation: string) =>
      Promise.resolve(sent.has(conversation) ? undefined : { ...MESSAGE, conversation }),
    done: ({ conversation }: OpenMessage) => {
      sent.add(conversation);
      return Promise.resolve();
    },
  };
  const readiness = new Readiness();
  readiness.ready();
  if (scene.isDraining === true) readiness.drain();
  const parts = [
    { names: () => scene.names ?? ['tg'], get: () => Promise.resolve({ maxReplyLength: 100 }) },
    { settingsOf: () => undefined },
    ...[readiness, conversations, inbox, {}, {}],
    { send: (_reply: unknown, signal: AbortSignal) => scene.send?.(signal) ?? Promise.resolve() },
    ...[{}, {}, {}, { done: () => undefined }, {}, {}],
    {
      for: () => ({ ...silentLogs.for('test'), warn: (sentence: string) => told.push(`warn: ${sentence}`) }),
    } as unknown as Logs,
  ] as unknown as ConstructorParameters<typeof ConversationWorker>;
  const worker = new ConversationWorker(...parts);
  workers.push(worker);
  worker.onApplicationBootstrap();
  return { worker, told, asked: () => asked };
}

/** Lets everything run that is due now. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

test('open conversations are answered in parallel and released', async () => {
  const { told } = start({ claims: [[claimOf('one'), claimOf('two')]] });
  await settle();
  expect(told.toSorted()).toEqual(['release one: done, 0 failures', 'release two: done, 0 failures']);
});

test.each<[string, Scene]>([
  ['there is no channel', { names: [] }],
  ['the gateway drains', { isDraining: true }],
])('nothing is claimed while %s', async (_what, scene) => {
  const { asked } = start(scene);
  await settle();
  expect(asked()).toBe(0);
});

test('an unreachable platform is retried later, which counts as a failure', async () => {
  const send = () => Promise.reject(new RetryLater('busy', 5000));
  const { told } = start({ claims: [[claimOf('one', 2)]], send });
  await settle();
  expect(told).toEqual(['release one: later, 3 failures']);
});

test('waiting for a person is not a failure', async () => {
  const send = () => Promise.reject(new RetryLater('a person has to allow a tool call', 2000, false));
  const { told } = start({ claims: [[claimOf('one', 2)]], send });
  await settle();
  expect(told).toEqual(['release one: later, 2 failures']);
});

test('an unexpected error is logged and retried', async () => {
  const { told } = start({ claims: [[claimOf('one')]], send: () => Promise.reject(new Error('unheard of')) });
  await settle();
  expect(told[0]).toBe('warn: a conversation could not be answered; will retry');
  expect(told[1]).toMatch(/^release one: (later|now), 1 failures$/);
});

test('a lease that is lost while sending is not released', async () => {
  const { told } = start({ claims: [[claimOf('one')]], send: () => Promise.reject(new LeaseLost()) });
  await settle();
  expect(told).toEqual([]);
});

test('a conversation that cannot be released is logged, and its lease expires', async () => {
  const release = () => Promise.reject(new Error('no database'));
  const { told } = start({ claims: [[claimOf('one')]], release });
  await settle();
  expect(told).toEqual(['release one: done, 0 failures', 'warn: a conversation is paused for now']);
});

test('an unreachable database is logged once, and work resumes when it is back', async () => {
  const { worker, told } = start({ claims: [new Error('down'), new Error('down'), [claimOf('one')]] });
  for (let look = 0; look < 3; look += 1) {
    await settle();
    worker.wake();
  }
  await settle();
  expect(told).toEqual([
    'warn: inbound channel messages cannot be claimed; will retry',
    'release one: done, 0 failures',
  ]);
});

describe('with its clock moved', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));

  test('renewed claims continue; a lost one is aborted at once', async () => {
    const stopped: string[] = [];
    const send = (signal: AbortSignal) =>
      untilAborted(signal).catch((error: unknown) => {
        stopped.push((error as Error).name);
        throw error;
      });
    let kept = new Set(['tg one', 'tg two']);
    const { told } = start({ claims: [[claimOf('one'), claimOf('two')]], send, kept: () => kept });
    await settle();
    jest.advanceTimersByTime(5000);
    await settle();
    expect(stopped).toEqual([]);
    kept = new Set(['tg one']);
    jest.advanceTimersByTime(5000);
    await settle();
    expect([stopped, told]).toEqual([['LeaseLost'], []]);
    kept = new Set();
    jest.advanceTimersByTime(5000);
    await settle();
    expect(stopped).toHaveLength(2);
  });

  test('without a database for a whole lease, every claim counts as lost', async () => {
    const signals: AbortSignal[] = [];
    const send = (signal: AbortSignal) => {
      signals.push(signal);
      return untilAborted(signal);
    };
    const kept = () => {
      throw new Error('down');
    };
    start({ claims: [[claimOf('one')]], send, kept });
    await settle();
    for (let secs = 0; secs < 14; secs += 1) {
      jest.advanceTimersByTime(1000);
      await settle();
    }
    expect(signals[0]?.aborted).toBe(false);
    for (let secs = 0; secs < 3; secs += 1) {
      jest.advanceTimersByTime(1000);
      await settle();
    }
    expect(signals[0]?.reason).toBeInstanceOf(LeaseLost);
  });

  test('a stop waits at most five seconds for answers being sent', async () => {
    let reason: unknown;
    const send = (signal: AbortSignal) =>
      untilAborted(signal).catch((error: unknown) => {
        reason = error;
        throw error;
      });
    const { worker, told } = start({ claims: [[claimOf('one')]], send });
    await settle();
    const stopped = worker.onModuleDestroy();
    await settle();
    expect(reason).toBeUndefined();
    jest.advanceTimersByTime(5000);
    await stopped;
    expect(String(reason)).toBe('Error: the gateway is stopping');
    expect(told).toEqual(['warn: a conversation is paused for now']);
  });
});
