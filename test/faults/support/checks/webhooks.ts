import type { ReceivedAttempt } from '../../../harness/hook-receiver.js';
import type { Ledger } from '../ledger.js';
import { groupedBy, type Kept, type KeptDelivery } from './kept.js';

interface Lane {
  readonly path: string;
  /** In the order of their numbers. */
  readonly deliveries: readonly KeptDelivery[];
  /** The first arrival of each event, by its id. */
  readonly firstSeen: ReadonlyMap<string, Arrival>;
}

interface Arrival {
  /** In the order of arrival. */
  readonly place: number;
  /** By the clock of the ledger. */
  readonly at: number;
}

/** The name of the connection to it. */
const RECEIVER = 'receiver';

/** Events that were not delivered, numbered wrongly, out of order, or different from the database. */
export function* wrongWebhooks(
  ledger: Ledger,
  kept: Kept,
  attempts: readonly ReceivedAttempt[],
): Generator<string> {
  const byHook = groupedBy(kept.deliveries, ({ hook_id }) => hook_id);
  const byPath = groupedBy(attempts, ({ path }) => path);
  for (const { hook, path, at } of ledger.of('hook')) {
    const firstSeen = new Map<string, Arrival>();
    for (const [place, { json, at: moment }] of (byPath.get(path) ?? []).entries())
      if (!firstSeen.has(json.id)) firstSeen.set(json.id, { place, at: ledger.timeOf(moment) });
    const lane = { path, deliveries: byHook.get(hook) ?? [], firstSeen };
    yield* undelivered(lane, byPath.get(path) ?? []);
    yield* overtaken(lane, ledger);
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

/**
 * First attempts arrive in order, so nothing with a higher number may arrive before a delivery that needed only one
 * attempt. The exception: the attempt was lost on its way, and its outcome with its replica. Then it is sent again as
 * if for the first time.
 */
function* overtaken({ path, deliveries, firstSeen }: Lane, ledger: Ledger): Generator<string> {
  const harms = ledger.of('fault').filter(({ fault }) => fault.target === RECEIVER);
  const arrived: (Arrival & { readonly sequence: number })[] = [];
  let last: (Arrival & { readonly sequence: number; readonly id: string }) | undefined;
  for (const { event_id: id, sequence, attempts } of deliveries) {
    const seen = firstSeen.get(id);
    if (seen === undefined) continue;
    const { place, at } = seen;
    if (last !== undefined && place < last.place) {
      const { sequence: overtook } = last;
      const before = arrived.filter((one) => one.sequence < overtook && one.place < place);
      const since = Math.max(0, ...before.map((one) => one.at));
      // The lost attempt was made after its predecessors arrived, and before its successor did.
      if (!harms.some((harm) => harm.at >= since && harm.at - harm.tookMs <= at))
        yield `${path}: number ${sequence} (${id}) arrived before ${last.id}, which was sent but once`;
    }
    if (attempts === 1 && (last === undefined || place > last.place)) last = { ...seen, sequence, id };
    arrived.push({ ...seen, sequence });
  }
}

/** The event that must come first: for a session its creation, for a turn its message. */
const FIRST_WORD = { session_id: 'session.created', turn_id: 'message.received' } as const;

/** A webhook that was registered meanwhile receives only the later events. */
function* numberedBeforeItsCause({ path, deliveries }: Lane): Generator<string> {
  for (const [field, first] of Object.entries(FIRST_WORD)) {
    const byId = groupedBy(deliveries, ({ data }) => (typeof data[field] === 'string' ? data[field] : ''));
    for (const [id, ofOne] of byId) {
      const place = id === '' ? 0 : ofOne.findIndex(({ event }) => event === first);
      if (place > 0) yield `${path}: ${ofOne[0]?.event} of ${id} has a lower number than its ${first}`;
    }
  }
}

/** Sessions that were requested after the webhook was acknowledged. */
function* untold({ path, deliveries }: Lane, ledger: Ledger, since: number): Generator<string> {
  const told = new Set(idsOf(deliveries, 'session.created', 'session_id'));
  for (const { session, askedAt } of ledger.of('session'))
    if (askedAt > since && !told.has(session)) yield `${path} was not told of session ${session}`;
}

/**
 * The first webhook existed before everything else, so it must have received exactly what the database has, each
 * event once.
 */
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
