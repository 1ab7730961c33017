import type { ReceivedAttempt } from '../harness/hook-receiver.js';
import { lostOrTwice } from './support/checks/acknowledged.js';
import type { Kept, KeptDelivery, KeptMessage, KeptSession, KeptTurn } from './support/checks/kept.js';
import { wrongTurns } from './support/checks/turns.js';
import { wrongWebhooks } from './support/checks/webhooks.js';
import { drawSchedule, isConnectionFault, describe as sentenceOf } from './support/fault-schedule.js';
import { Ledger } from './support/ledger.js';

const TARGETS = { gateways: ['g0', 'g1'], databases: ['db'], ways: ['w0', 'w1'] };
const PACE = { faults: 30, leastGapMs: 100, maxGapMs: 900, maxMs: 2000 };

test('a seed draws the same faults again, another seed others', () => {
  const drawn = drawSchedule(7, TARGETS, PACE);
  expect(drawSchedule(7, TARGETS, PACE)).toEqual(drawn);
  expect(drawSchedule(8, TARGETS, PACE)).not.toEqual(drawn);
  // Full rounds: each round has every kind.
  expect(new Set(drawn.slice(0, 8).map(({ kind }) => kind)).size).toBe(8);
  expect(drawn).toHaveLength(30);
  for (const fault of drawn) {
    expect(fault.forMs > 0).toBe(isConnectionFault(fault.kind));
    expect(sentenceOf(fault)).toContain(`${fault.atMs} ms  ${fault.kind} ${fault.target}`);
  }
});

const ledgers: Ledger[] = [];
afterEach(() => {
  for (const ledger of ledgers.splice(0)) ledger.remove();
});

const session: KeptSession = {
  id: 's1',
  user_id: 'k-s1',
  status: 'terminated',
  turn_owner: null,
  message_count: 4,
  turn_count: 2,
  tokens: 10,
};
const turn = (n: number, more: Partial<KeptTurn> = {}): KeptTurn => ({
  id: `t${n}`,
  session_id: 's1',
  user_message_id: `u${n}`,
  arrival: n,
  status: 'completed',
  reason: null,
  owner: 'o',
  started: n * 100,
  ended: n * 100 + 50,
  tokens: 5,
  ...more,
});
const said = (id: string, seq: number, more: Partial<KeptMessage> = {}): KeptMessage => ({
  id,
  session_id: 's1',
  turn_id: `t${id.slice(1)}`,
  seq,
  role: id.startsWith('u') ? 'user' : 'assistant',
  content: id.startsWith('u') ? `k-${id}` : 'It is noted.',
  incomplete: null,
  ...more,
});
const FACTS: readonly [string, Record<string, string>][] = [
  ['session.created', { session_id: 's1' }],
  ['message.received', { turn_id: 't1' }],
  ['message.sent', { turn_id: 't1' }],
  ['message.received', { turn_id: 't2' }],
  ['message.sent', { turn_id: 't2' }],
  ['session.terminated', { session_id: 's1' }],
];
const deliveries: readonly KeptDelivery[] = FACTS.map(([event, data], n) => ({
  hook_id: 'h1',
  event_id: `e${n + 1}`,
  event,
  sequence: n + 1,
  status: 'delivered',
  attempts: 1,
  data,
}));
const KEPT: Kept = {
  sessions: [session],
  messages: [said('u1', 1), said('a1', 2), said('u2', 3), said('a2', 4)],
  turns: [turn(1), turn(2)],
  hooks: [{ id: 'h1', url: 'http://127.0.0.1:1/first' }],
  deliveries,
  settings: new Map([['agent.max_waiting', 101]]),
};
const arrival = (n: number): ReceivedAttempt => {
  const json = { id: `e${n}`, event: '', timestamp: '', sequence: n, data: {} };
  return { at: n, path: '/first', headers: {}, body: JSON.stringify(json), json };
};
const ARRIVALS = [1, 2, 3, 4, 5, 6].map(arrival);
const CALLS = new Map([
  ['k-u1', 1],
  ['k-u2', 1],
]);

function violations(
  kept: Partial<Kept> = {},
  arrivals = ARRIVALS,
  calls: Map<string, number> = CALLS,
  harmed?: { readonly from: number; readonly to: number },
): string[] {
  const ledger = new Ledger();
  ledgers.push(ledger);
  if (harmed !== undefined) {
    const fault = { atMs: 0, kind: 'half-cut', target: 'receiver', forMs: 0 } as const;
    const [at, tookMs] = [ledger.timeOf(harmed.to), harmed.to - harmed.from];
    ledger.write({ kind: 'fault', fault, tookMs, ...{ at } });
  }
  ledger.write({ kind: 'hook', key: 'k-h', hook: 'h1', path: '/first' });
  ledger.write({ kind: 'session', key: 'k-s1', session: 's1', askedAt: ledger.now + 1 });
  const told = { kind: 'message', caller: 'c', session: 's1' } as const;
  ledger.write({ ...told, key: 'k-u1', message: 'a1', answer: 'It is noted.' });
  ledger.write({ ...told, key: 'k-u2', message: 'u2' });
  ledger.write({ kind: 'ended', session: 's1' });
  ledger.write({ kind: 'setting', key: 'k-x', value: 101 });
  const all = { ...KEPT, ...kept };
  return [
    ...lostOrTwice(ledger, all),
    ...wrongTurns(ledger, all, { calls }),
    ...wrongWebhooks(ledger, all, arrivals),
  ];
}

test('a run in which everything is as it was promised has no violation', () => {
  expect(violations()).toEqual([]);
});

test('a turn that began at once may have a higher number than one that queued after it', () => {
  expect(violations({ turns: [turn(1, { arrival: 9 }), turn(2)] })).toEqual([]);
});

const numbered = (order: readonly number[]) =>
  order.map((from, n) => ({ ...deliveries[from]!, sequence: n + 1 }));
const two = <Item>(items: readonly Item[], at: number, item: Item) => items.with(at, item);

test.each<[string, RegExp, Partial<Kept>]>([
  ['a session that is lost', /session s1 .* is not there/, { sessions: [] }],
  ['an end that is lost', /the end of session s1/, { sessions: [{ ...session, status: 'active' }] }],
  ['a session made twice', /made 2 sessions/, { sessions: [session, { ...session, id: 's2' }] }],
  ['a message that is lost', /message u2 .* not there/, { messages: KEPT.messages.slice(0, 2) }],
  [
    'an answer that is another',
    /the history says/,
    { messages: two(KEPT.messages, 1, said('a1', 2, { content: 'No' })) },
  ],
  ['half an answer', /has user$/, { messages: KEPT.messages.filter(({ id }) => id !== 'a2') }],
  ['a gap in the history', /numbered 1,2,3,5/, { messages: two(KEPT.messages, 3, said('a2', 5)) }],
  [
    'a key that was executed twice',
    /executed 2 times/,
    { messages: two(KEPT.messages, 2, said('u2', 3, { content: 'k-u1' })) },
  ],
  [
    'a turn without an end',
    /running for ever/,
    { turns: [turn(1), turn(2, { status: 'running', ended: null })] },
  ],
  ['a session that stays held', /held by o/, { sessions: [{ ...session, turn_owner: 'o' }] }],
  ['turns at the same time', /began 50 ms before/, { turns: [turn(1), turn(2, { started: 100 })] }],
  ['turns out of order', /overtook/, { turns: [turn(1, { id: 't9', arrival: 9 }), turn(2)] }],
  ['counters that do not agree', /counts 9 tokens/, { sessions: [{ ...session, tokens: 9 }] }],
  ['a webhook that is lost', /0 of it/, { hooks: [] }],
  ['a setting that is lost', /the setting 101/, { settings: new Map() }],
  [
    'an event that is not delivered',
    /is pending/,
    { deliveries: two(deliveries, 5, { ...deliveries[5]!, status: 'pending' }) },
  ],
  [
    'an event that was never written',
    /not told of t2/,
    { deliveries: deliveries.filter(({ event_id }) => event_id !== 'e5') },
  ],
  [
    'an answer that is numbered before its message',
    /message.sent of t1 has a lower number than its message.received/,
    { deliveries: numbered([0, 2, 1, 3, 4, 5]) },
  ],
  ['an event of nothing', /did not happen/, { turns: [turn(1), turn(2, { status: 'cancelled' })] }],
])('%s is found', (_what, sentence, kept) => {
  expect(violations(kept)).toContainEqual(expect.stringMatching(sentence));
});

test('webhooks that arrive out of order, or never, are found; a retry may be late', () => {
  const late = [1, 3, 2, 4, 5, 6].map(arrival);
  expect(violations({}, late)).toEqual([
    expect.stringMatching(/number 3 .* arrived before e2|arrived before/),
  ]);
  const retried = two(deliveries, 1, { ...deliveries[1]!, attempts: 2 });
  expect(violations({ deliveries: retried }, late)).toEqual([]);
  expect(violations({}, ARRIVALS.slice(0, 5))).toEqual([
    expect.stringMatching(/e6 is delivered and never arrived/),
  ]);
});

test('an attempt that is lost with its outcome may be late, if its connection was disturbed just then', () => {
  const began = performance.now();
  const late = [1, 3, 2, 4, 5, 6].map((n, place) => ({ ...arrival(n), at: began + 1000 * place }));
  const harmed = (from: number, to: number) =>
    violations({}, late, CALLS, { from: began + from, to: began + to });
  expect(harmed(200, 800)).toEqual([]);
  expect(harmed(-5000, 100)).toEqual([]);
  const overtaken = [expect.stringMatching('number 3 .* arrived before e2')];
  expect(harmed(-5000, -100)).toEqual(overtaken);
  expect(harmed(1100, 1900)).toEqual(overtaken);
});

test('a tool that was called twice, or not at all, is found', () => {
  expect(
    violations(
      {},
      ARRIVALS,
      new Map([
        ['k-u1', 2],
        ['k-u2', 1],
      ]),
    ),
  ).toEqual([expect.stringMatching(/called 2 times/)]);
  expect(violations({}, ARRIVALS, new Map([['k-u1', 1]]))).toEqual([
    expect.stringMatching(/without its tool/),
  ]);
});
