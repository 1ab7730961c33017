import type { Ledger } from '../ledger.js';
import type { ToolLedger } from '../tool-ledger.js';
import { groupedBy, type Kept, type KeptMessage, type KeptSession, type KeptTurn } from './kept.js';

const DEFINITE = ['completed', 'failed', 'interrupted', 'cancelled'];

interface Story {
  readonly session: KeptSession;
  /** In order. */
  readonly said: readonly KeptMessage[];
  /** In the order in which they ran. */
  readonly turns: readonly KeptTurn[];
}

/**
 * Turns without an end, inconsistent histories, turns that overlap or are out of order, and tools that were called
 * twice.
 */
export function* wrongTurns(ledger: Ledger, kept: Kept, tools: Pick<ToolLedger, 'calls'>): Generator<string> {
  const messages = groupedBy(kept.messages, ({ session_id }) => session_id);
  const turns = groupedBy(kept.turns, ({ session_id }) => session_id);
  for (const session of kept.sessions) {
    const said = messages.get(session.id) ?? [];
    const place = new Map(said.map(({ id, seq }) => [id, seq ?? 0]));
    const ran = [...(turns.get(session.id) ?? [])].sort(
      (a, b) => (place.get(a.user_message_id) ?? 0) - (place.get(b.user_message_id) ?? 0),
    );
    const story = { session, said, turns: ran };
    yield* indefinite(story);
    yield* halfWritten(story);
    yield* overlapping(story);
  }
  yield* outOfOrder(ledger, kept);
  yield* wrongCalls(kept, tools);
}

function* indefinite({ session, turns }: Story): Generator<string> {
  for (const { id, status } of turns)
    if (!DEFINITE.includes(status)) yield `turn ${id} of ${session.id} is ${status} for ever`;
  if (session.turn_owner !== null) yield `session ${session.id} is held by ${session.turn_owner} for ever`;
}

/**
 * Compares the counters and the numbering. Each turn must have a message, and the answer that its status promises.
 */
function* halfWritten({ session, said, turns }: Story): Generator<string> {
  const numbers = said.map(({ seq }) => seq);
  if (numbers.some((seq, n) => seq !== n + 1)) yield `${session.id} has messages numbered ${numbers.join()}`;
  if (session.message_count !== said.length)
    yield `${session.id} counts ${session.message_count} messages and has ${said.length}`;
  // A message cancelled while it waited is in the history, but its turn never began.
  const begun = turns.filter(({ started }) => started !== null);
  if (session.turn_count !== begun.length)
    yield `${session.id} counts ${session.turn_count} turns and began ${begun.length}`;
  const tokens = turns.reduce((sum, turn) => sum + turn.tokens, 0);
  if (session.tokens !== tokens)
    yield `${session.id} counts ${session.tokens} tokens and its turns ${tokens}`;
  const ofTurn = groupedBy(said, ({ turn_id }) => turn_id);
  for (const turn of turns) yield* wrongParts(turn, ofTurn.get(turn.id) ?? []);
  for (const id of ofTurn.keys())
    if (!turns.some((turn) => turn.id === id))
      yield `${session.id} has messages of ${id}, which is no turn of it`;
}

function* wrongParts(turn: KeptTurn, parts: readonly KeptMessage[]): Generator<string> {
  const shape = parts.map(({ role, incomplete }) => (incomplete === null ? role : `${role} (${incomplete})`));
  const [, answer] = parts;
  const adjoins = answer === undefined || answer.seq === (parts[0]?.seq ?? 0) + 1;
  const allowed =
    turn.status === 'completed'
      ? ['user,assistant']
      : turn.status === 'interrupted'
        ? ['user,assistant (interrupted)']
        : ['user', `user,assistant (${turn.status})`];
  if (!allowed.includes(shape.join()) || !adjoins)
    yield `turn ${turn.id} is ${turn.status} and has ${shape.join(', ') || 'no message'}`;
  if (turn.status === 'completed' && answer?.content !== 'It is noted.')
    yield `turn ${turn.id} is completed with "${answer?.content ?? ''}"`;
}

/** Turns run one at a time, in the order in which their messages arrived. */
function* overlapping({ session, turns }: Story): Generator<string> {
  const ran = turns.filter(({ started }) => started !== null);
  for (const [n, turn] of ran.entries()) {
    const before = ran[n - 1];
    if (before === undefined) continue;
    const gap = (turn.started ?? 0) - (before.ended ?? Number.POSITIVE_INFINITY);
    if (gap < 0) yield `in ${session.id} turn ${turn.id} began ${-gap} ms before ${before.id} ended`;
    // A turn that starts at once is numbered when it starts. A later message that was queued meanwhile may have a
    // lower number.
    const cameFirst = turn.arrival < before.arrival && turn.id < before.id;
    if (cameFirst) yield `in ${session.id} turn ${turn.id} overtook ${before.id}`;
  }
}

/** A message that was sent after another was acknowledged comes after it in the history. */
function* outOfOrder(ledger: Ledger, { messages }: Kept): Generator<string> {
  const seqOf = new Map(messages.map(({ content, seq }) => [content, seq ?? 0]));
  const talks = groupedBy(ledger.of('message'), ({ caller, session }) => `${caller} in ${session}`);
  for (const [who, told] of talks)
    for (const [n, { key }] of told.entries()) {
      const before = told[n - 1];
      if (before !== undefined && (seqOf.get(before.key) ?? 0) > (seqOf.get(key) ?? 0))
        yield `${who}: ${key} stands before ${before.key}, which was acknowledged before it was sent`;
    }
}

/** The tool notes every message: once for an answered one, never twice. */
function* wrongCalls({ turns, messages }: Kept, tools: Pick<ToolLedger, 'calls'>): Generator<string> {
  const contents = new Map(messages.map(({ id, content }) => [id, content]));
  for (const [key, times] of tools.calls)
    if (times > 1) yield `the tool was called ${times} times for ${key}`;
  for (const { status, user_message_id, unknown_call: isUnknown = false, owner, told = [] } of turns) {
    const key = contents.get(user_message_id) ?? '';
    // A call that may have been sent before its replica died is not repeated. The model is told, and answers.
    if (status === 'completed' && !tools.calls.has(key) && !isUnknown)
      yield `${key} was answered without its tool by ${owner}: the model was told ${JSON.stringify(told)}`;
  }
}
