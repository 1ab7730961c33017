import { Unavailable } from '../../../common/errors/gateway-error.js';
import type { EventStore } from '../../../platform/events/event.store.js';
import { silentLogs } from '../../../platform/logging/logger.js';
import type { TurnFile, TurnFiles } from '../../turns/turns.api.js';
import { LeaseLost, NotSent } from '../channel-failures.js';
import type { OpenMessage } from '../inbound/inbox.store.js';
import type { ReplyPart, ReplyStore } from './reply.store.js';
import { ReplySender, type SentReply } from './reply-sender.js';
import { REPLY_TEXTS } from './reply-text.js';

const DAY_MS = 24 * 3_600_000;
/** When the message came; its turn may have waited for a person for days. */
const LONG_AGO = new Date(Date.now() - 3 * DAY_MS);
const part = (number: number, more: Partial<ReplyPart> = {}): ReplyPart => ({
  ...{ part: number, content: `part ${number}`, file: null, status: 'pending', externalId: null },
  ...{ attempts: 0, error: null, ...more },
});

interface Scene {
  readonly parts?: readonly ReplyPart[];
  /** Errors of the first calls to send or edit; the next call succeeds. */
  readonly failures?: readonly Error[];
  readonly answeredAt?: Date | null;
  readonly dropsDuplicates?: boolean;
  readonly cannotEdit?: boolean;
  /** Somebody comes for files that begin like this. */
  readonly keeps?: string;
  readonly lost?: boolean;
  /** How often the database is away when the outcome is stored. */
  readonly outages?: number;
}

/** An outbox in memory, and a platform that accepts replies or fails as scripted. */
async function send(scene: Scene, signal = new AbortController().signal) {
  const parts = [...(scene.parts ?? [part(1)])];
  const failures = [...(scene.failures ?? [])];
  let outages = scene.outages ?? 0;
  const told: string[] = [];
  const read: number[] = [];
  const published: unknown[] = [];
  const change = (number: number, more: Partial<ReplyPart>): void => {
    const at = parts.findIndex((one) => one.part === number);
    parts[at] = { ...part(number), ...parts[at], ...more };
  };
  const store = {
    partsOf: () => Promise.resolve([...parts]),
    sending: () => (scene.lost === true ? Promise.reject(new LeaseLost()) : Promise.resolve()),
    ended: (
      _message: unknown,
      number: number,
      status: ReplyPart['status'],
      { error = null }: { error?: string | null } = {},
    ) => {
      outages -= 1;
      if (outages >= 0) return Promise.reject(new Unavailable('The database is away.'));
      change(number, { status, error });
      return Promise.resolve();
    },
    add: (_message: unknown, content: string) =>
      Promise.resolve(void parts.push(part(parts.length + 1, { content }))),
    detach: (_message: unknown, number: number) => Promise.resolve(change(number, { externalId: null })),
  } as unknown as ReplyStore;
  const hand = (what: string): Promise<string> => {
    told.push(what);
    const failure = failures.shift();
    return failure === undefined ? Promise.resolve('ext-1') : Promise.reject(failure);
  };
  const adapter = {
    dropsDuplicates: scene.dropsDuplicates ?? false,
    send: ({ text }: { text: string }) => hand(`send ${text}`),
    sendFile: ({ name, data }: { name: string; data: Buffer }) =>
      hand(`send file ${name}: ${data.toString()}`),
    ...(scene.keeps === undefined
      ? {}
      : { keepsFile: ({ head }: { head: Buffer }) => head.toString() === scene.keeps }),
    ...(scene.cannotEdit === true
      ? {}
      : { edit: (id: string, { text }: { text: string }) => hand(`edit ${id}: ${text}`) }),
  };
  const message = { messageId: 'msg_1', channel: 'tg', userId: 'tg:ada', target: {} };
  const reply = {
    claim: { failures: 0 },
    message: {
      ...message,
      receivedAt: LONG_AGO,
      answeredAt: scene.answeredAt ?? null,
    } as unknown as OpenMessage,
    adapter,
  } as unknown as SentReply;
  const events = { publish: (event: unknown) => Promise.resolve(published.push(event)) };
  const files = {
    read: ({ place }: TurnFile) => {
      read.push(place);
      return Promise.resolve(place === 9 ? undefined : Buffer.from(`bytes ${place}`));
    },
    head: ({ place }: TurnFile) =>
      Promise.resolve(place === 9 ? undefined : { sizeBytes: 7, head: Buffer.from(`bytes ${place}`) }),
    forget: (turnId: string) => Promise.resolve(void told.push(`forget ${turnId}`)),
    forgetOne: ({ place }: TurnFile) => Promise.resolve(void told.push(`forget file ${place}`)),
  };
  const sender = new ReplySender(
    store,
    files as unknown as TurnFiles,
    events as unknown as EventStore,
    silentLogs,
  );
  const failure = await sender.send(reply, signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { told, read, failure, published, statuses: parts.map(({ status }) => status) };
}

test('parts are sent in order, and a sent part is not sent again', async () => {
  const { told, statuses } = await send({ parts: [part(1, { status: 'sent' }), part(2), part(3)] });
  expect([told, statuses]).toEqual([
    ['send part 2', 'send part 3'],
    ['sent', 'sent', 'sent'],
  ]);
});

test('a draft becomes the answer by an edit, or is sent again where the platform cannot edit', async () => {
  const parts = [part(1, { externalId: 'ext-0' })];
  expect((await send({ parts })).told).toEqual(['edit ext-0: part 1']);
  expect((await send({ parts, cannotEdit: true })).told).toEqual(['send part 1']);
});

test('the answer to a deleted draft is a new message', async () => {
  const failures = [new NotSent('rejected', 'message to edit not found')];
  const { told, statuses } = await send({ parts: [part(1, { externalId: 'ext-0' })], failures });
  expect([told, statuses]).toEqual([['edit ext-0: part 1', 'send part 1'], ['sent']]);
});

describe('a part that was being sent when its gateway died', () => {
  const parts = [part(1, { status: 'sending' })];

  test('is not sent twice: the reader is told instead', async () => {
    const { told, statuses } = await send({ parts });
    expect([told, statuses]).toEqual([[`send ${REPLY_TEXTS.maybeLost}`], ['unknown', 'sent']]);
  });

  test('is sent again where the platform drops duplicates', async () => {
    expect((await send({ parts, dropsDuplicates: true })).told).toEqual(['send part 1']);
    expect((await send({ parts: [part(1, { status: 'sending', externalId: 'e' })] })).told).toEqual([
      'edit e: part 1',
    ]);
  });
});

test('the reader is told once that something may be missing, even if that note fails too', async () => {
  const failures = [new NotSent('unknown', 'reset'), new NotSent('unknown', 'reset')];
  const { told, statuses, published } = await send({ failures });
  expect(told).toEqual(['send part 1', `send ${REPLY_TEXTS.maybeLost}`]);
  expect([statuses, published]).toEqual([['unknown', 'unknown'], []]);
});

test.each([
  ['as the platform says', new NotSent('retry', 'busy', 7000), 7000, 7000],
  ['for a moment', new NotSent('retry', 'down'), 0, 2000],
])('a part that the platform does not accept now waits %s', async (_what, error, least, most) => {
  const { failure, statuses } = await send({ parts: [part(1, { attempts: 9 }), part(2)], failures: [error] });
  expect([(failure as Error).name, statuses]).toEqual(['RetryLater', ['pending', 'pending']]);
  const { afterMs } = failure as { afterMs: number };
  expect(afterMs).toBeGreaterThanOrEqual(least);
  expect(afterMs).toBeLessThanOrEqual(most);
});

test.each<[string, NotSent, Date]>([
  ['that the platform rejects', new NotSent('rejected', 'chat not found'), new Date()],
  ['that it has not accepted for a day', new NotSent('retry', 'down'), new Date(Date.now() - DAY_MS - 1000)],
])('an answer %s is given up, and an event reports it', async (_what, error, answeredAt) => {
  const { statuses, published } = await send({ failures: [error], answeredAt });
  expect(statuses).toEqual(['failed']);
  const data = { source: 'channel', reason: 'reply_not_sent', name: 'tg' };
  expect(published).toEqual([{ name: 'error.occurred', userId: 'tg:ada', data }]);
});

test('nothing is sent after the lease is lost', async () => {
  const { told, failure } = await send({ lost: true });
  expect([told, failure]).toEqual([[], new LeaseLost()]);
});

test('an error that does not come from the platform is thrown', async () => {
  const { failure, statuses } = await send({ failures: [new TypeError('ours')] });
  expect([failure, statuses]).toEqual([new TypeError('ours'), ['pending']]);
});

test('the outcome is stored when the database is back, and the part is not sent again', async () => {
  const { told, statuses } = await send({ outages: 1 });
  expect([told, statuses]).toEqual([['send part 1'], ['sent']]);
});

test('storing the outcome ends with the lease', async () => {
  const { failure } = await send({ outages: 1 }, AbortSignal.abort());
  expect(failure).toBeInstanceOf(Unavailable);
});

describe('a file', () => {
  const file = (place: number): TurnFile => ({
    ...{ turnId: 'turn_1', step: 2, place, name: `f${place}.png`, mimeType: 'image/png', isKept: true },
  });
  const filePart = (number: number, place: number, more: Partial<ReplyPart> = {}) =>
    part(number, { content: `f${place}.png`, file: file(place), ...more });

  test('follows the text, once, and its bytes are deleted when everything was tried', async () => {
    const parts = [part(1, { status: 'sent' }), filePart(2, 1, { status: 'sent' }), filePart(3, 2)];
    const { told, statuses } = await send({ parts });
    expect(told).toEqual(['send file f2.png: bytes 2', 'forget turn_1']);
    expect(statuses).toEqual(['sent', 'sent', 'sent']);
  });

  test('that was being sent when its gateway died is not sent twice', async () => {
    const { told } = await send({ parts: [filePart(1, 1, { status: 'sending' })] });
    expect(told).toEqual([`send ${REPLY_TEXTS.maybeLost}`, 'forget turn_1']);
  });

  test('that is rejected or missing is named with the reason, once; the others arrive', async () => {
    const parts = [filePart(1, 9), filePart(2, 1), filePart(3, 2)];
    const { told } = await send({ parts, failures: [new NotSent('rejected', 'Teams wants none')] });
    expect(told).toEqual([
      'send file f1.png: bytes 1',
      'send file f2.png: bytes 2',
      'send (I could not send f9.png: it is no longer kept.)\n(I could not send f1.png: Teams wants none.)',
      'forget turn_1',
    ]);
  });

  test('that someone still fetches is kept, unless it could not be sent; the others are deleted', async () => {
    const parts = [filePart(1, 1), filePart(2, 2)];
    expect((await send({ parts, keeps: 'bytes 1' })).told.slice(2)).toEqual(['forget file 2']);
    const failures = [new NotSent('rejected', 'Teams wants none')];
    const { told } = await send({ parts, keeps: 'bytes 1', failures });
    expect(told.at(-1)).toBe('forget turn_1');
  });

  test('is read in order to be sent, but not again to ask whether someone fetches it', async () => {
    const parts = [filePart(1, 1, { status: 'sent' }), filePart(2, 2)];
    const { read, told } = await send({ parts, keeps: 'bytes 1' });
    expect([read, told]).toEqual([[2], ['send file f2.png: bytes 2', 'forget file 2']]);
  });

  test('that the platform does not accept now is kept for the next attempt', async () => {
    const { told, failure } = await send({
      parts: [filePart(1, 1)],
      failures: [new NotSent('retry', 'busy')],
    });
    expect([told, (failure as Error).name]).toEqual([['send file f1.png: bytes 1'], 'RetryLater']);
  });

  test('that the platform refuses again and again is given up and named, and the next one is sent', async () => {
    const parts = [
      filePart(1, 1, { attempts: 5 }),
      filePart(2, 2, { attempts: 5 }),
      part(3, { attempts: 5 }),
    ];
    const failures = [new NotSent('retry', 'it broke off')];
    const { told, failure, statuses } = await send({ parts, failures });
    expect(told).toEqual([
      'send file f1.png: bytes 1',
      'send file f2.png: bytes 2',
      'send part 3',
      'send (I could not send f1.png: it broke off.)',
      'forget turn_1',
    ]);
    expect([failure, statuses]).toEqual([undefined, ['failed', 'sent', 'sent', 'sent']]);
  });

  test.each([
    ['has had a few attempts', 4, new NotSent('retry', 'down')],
    ['is to come later, as the platform says', 9, new NotSent('retry', 'busy', 1000)],
  ])('that %s is kept', async (_what, attempts, error) => {
    const { failure, statuses } = await send({ parts: [filePart(1, 1, { attempts })], failures: [error] });
    expect([(failure as Error).name, statuses]).toEqual(['RetryLater', ['pending']]);
  });
});
