import type { ReceivedAttempt } from '../../../harness/hook-receiver.js';
import type { Ledger } from '../ledger.js';
import { groupedBy, type Kept, type KeptDelivery } from './kept.js';

interface Lane {
  readonly path: string;
  /** In the order of their numbers. */
  readonly deliveries: readonly KeptDelivery[];
  /** Places in the order of arrival, by the id of the event. */
  readonly firstSeen: ReadonlyMap<string, number>;
}

/** Events that were not delivered, not numbered well, out of order, or not what happened. */
export function* wrongWebhooks(
  ledger: Ledger,
  kept: Kept,
  attempts: readonly ReceivedAttempt[],
): Generator<string> {
  const byHook = groupedBy(kept.deliveries, ({ hook_id }) => hook_id);
  const byPath = groupedBy(attempts, ({ path }) => path);
  for (const { hook, path, at } of ledger.of('hook')) {
    const firstSeen = new Map<string, number>();
    for (const [place, { json }] of (byPath.get(path) ?? []).entries())
      if (!firstSeen.has(json.id)) firstSeen.set(json.id, place);
    const lane = { path, deliveries: byHook.get(hook) ?? [], firstSeen };
    yield* undelivered(lane, byPath.get(path) ?? []);
    yield* overtaken(lane);
    yield* numberedBeforeItsCause(lane);
    yield* untold(lane, ledger, at);
  }
  const [first] = ledger.of('hook');
  if (first !== undefined) yield* differingFacts(byHook.get(first.hook) ?? [], kept);
}

function* undelivered(
  { path, deliveries, firstSeen }: Lane,
  attempts: readonly ReceivedAttempt[],
): Generator<string> {
  const numbers = deliveries.map(({ sequence }) => sequence);
  if (numbers.some((number, n) => number !== n + 1))
    yield `${path} has deliveries numbered ${numbers.join()}`;
  for (const { event_id, event, status } of deliveries) {
    if (status !== 'delivered') yield `${path}: ${event} ${event_id} is ${status}`;
    else if (!firstSeen.has(event_id)) yield `${path}: ${event} ${event_id} is delivered and never arrived`;
  }
  const known = new Map(deliveries.map(({ event_id, sequence }) => [event_id, sequence]));
  for (const { json } of attempts)
    if (known.get(json.id) !== json.sequence)
      yield `${path}: ${json.id} arrived as number ${json.sequence}, and is ${known.get(json.id) ?? 'unknown'}`;
}

/** First attempts arrive in their order. One that needed no other arrived at its first, so nothing later was there before. */
function* overtaken({ path, deliveries, firstSeen }: Lane): Generator<string> {
  let last: { place: number; id: string } | undefined;
  for (const { event_id: id, sequence, attempts } of deliveries) {
    const place = firstSeen.get(id);
    if (place === undefined) continue;
    if (last !== undefined && place < last.place)
      yield `${path}: number ${sequence} (${id}) arrived before ${last.id}, which was sent but once`;
    if (attempts === 1 && (last === undefined || place > last.place)) last = { place, id };
  }
}

/** What comes first: of a session its creation, of a turn its message. */
const FIRST_WORD = { session_id: 'session.created', turn_id: 'message.received' } as const;

/** A webhook that was registered in between hears of the rest alone. */
function* numberedBeforeItsCause({ path, deliveries }: Lane): Generator<string> {
  for (const [field, first] of Object.entries(FIRST_WORD)) {
    const byId = groupedBy(deliveries, ({ data }) => (typeof data[field] === 'string' ? data[field] : ''));
    for (const [id, ofOne] of byId) {
      const place = id === '' ? 0 : ofOne.findIndex(({ event }) => event === first);
      if (place > 0) yield `${path}: ${ofOne[0]?.event} of ${id} has a lower number than its ${first}`;
    }
  }
}

/** Sessions that were asked for after the webhook was acknowledged. */
function* untold({ path, deliveries }: Lane, ledger: Ledger, since: number): Generator<string> {
  const told = new Set(idsOf(deliveries, 'session.created', 'session_id'));
  for (const { session, askedAt } of ledger.of('session'))
    if (askedAt > since && !told.has(session)) yield `${path} was not told of session ${session}`;
}

/** The first webhook was there before everything else: what it was told is what the database has, each once. */
function* differingFacts(deliveries: readonly KeptDelivery[], kept: Kept): Generator<string> {
  const turns = (wanted: (turn: Kept['turns'][number]) => boolean) =>
    kept.turns.filter(wanted).map(({ id }) => id);
  yield* differing('session.created', idsOf(deliveries, 'session.created', 'session_id'), [
    ...kept.sessions.map(({ id }) => id),
  ]);
  yield* differing(
    'session.terminated',
    idsOf(deliveries, 'session.terminated', 'session_id'),
    kept.sessions.filter(({ status }) => status === 'terminated').map(({ id }) => id),
  );
  yield* differing(
    'message.received',
    idsOf(deliveries, 'message.received', 'turn_id'),
    turns(({ started }) => started !== null),
  );
  yield* differing(
    'message.sent',
    idsOf(deliveries, 'message.sent', 'turn_id'),
    turns(({ status }) => status === 'completed'),
  );
  yield* differing(
    'error.occurred of turns',
    idsOf(deliveries, 'error.occurred', 'turn_id'),
    turns(({ status }) => status === 'failed' || status === 'interrupted'),
  );
}

function* differing(what: string, told: readonly string[], facts: readonly string[]): Generator<string> {
  for (const [id, same] of groupedBy(told, (id) => id))
    if (same.length > 1) yield `${what} was told ${same.length} times of ${id}`;
  for (const id of facts) if (!told.includes(id)) yield `${what} was not told of ${id}`;
  for (const id of new Set(told))
    if (!facts.includes(id)) yield `${what} was told of ${id}, which did not happen`;
}

function idsOf(deliveries: readonly KeptDelivery[], event: string, field: string): string[] {
  const ofEvent = deliveries.filter((delivery) => delivery.event === event);
  return ofEvent.map(({ data }) => data[field]).filter((id): id is string => typeof id === 'string');
}
