import type { Ledger } from '../ledger.js';
import { groupedBy, type Kept, type KeptMessage } from './kept.js';

/** Acknowledged changes that are missing, stored differently, or stored more than once. */
export function* lostOrTwice(ledger: Ledger, kept: Kept): Generator<string> {
  yield* ofSessions(ledger, kept);
  yield* ofMessages(ledger, kept);
  yield* ofRefusals(ledger, kept);
  yield* ofHooks(ledger, kept);
  yield* ofSettings(ledger, kept);
}

function* ofSessions(ledger: Ledger, { sessions }: Kept): Generator<string> {
  const byId = new Map(sessions.map((session) => [session.id, session]));
  for (const { key, session } of ledger.of('session')) {
    const found = byId.get(session);
    if (found === undefined) yield `session ${session} (${key}) was acknowledged and is not there`;
    else if (found.user_id !== key) yield `session ${session} is ${found.user_id}'s, not ${key}'s`;
  }
  for (const { session } of ledger.of('ended'))
    if (byId.get(session)?.status !== 'terminated')
      yield `the end of session ${session} was acknowledged, and it is ${byId.get(session)?.status ?? 'not there'}`;
  for (const [key, same] of groupedBy(sessions, ({ user_id }) => user_id))
    if (same.length > 1) yield `the key ${key} made ${same.length} sessions`;
}

function* ofMessages(ledger: Ledger, { messages, turns }: Kept): Generator<string> {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const turnOf = new Map(turns.map((turn) => [turn.user_message_id, turn]));
  const answers = new Map<string, KeptMessage>();
  for (const message of messages) if (message.role === 'assistant') answers.set(message.turn_id, message);
  for (const { key, session, message, answer } of ledger.of('message')) {
    const found = answer === undefined ? byId.get(message) : userMessageOf(byId, messages, message);
    if (found?.content !== key || found.session_id !== session) {
      yield `message ${message} (${key}) was acknowledged and is ${found === undefined ? 'not there' : `"${found.content}"`}`;
      continue;
    }
    if (answer === undefined) continue;
    const turn = turnOf.get(found.id);
    if (turn?.status !== 'completed')
      yield `${key} was answered, and its turn is ${turn?.status ?? 'not there'}`;
    else if (answers.get(turn.id)?.content !== answer)
      yield `${key} was answered "${answer}", and the history says "${answers.get(turn.id)?.content ?? 'nothing'}"`;
  }
  const asked = messages.filter(({ role }) => role === 'user');
  for (const [key, same] of groupedBy(asked, ({ content }) => content))
    if (same.length > 1) yield `the key ${key} was executed ${same.length} times`;
}

/** A response of 200 names the assistant's message, one of 202 the user's. */
function userMessageOf(
  byId: ReadonlyMap<string, KeptMessage>,
  messages: readonly KeptMessage[],
  id: string,
): KeptMessage | undefined {
  const named = byId.get(id);
  if (named?.role !== 'assistant') return named;
  return messages.find(({ role, turn_id }) => role === 'user' && turn_id === named.turn_id);
}

/** A request that was finally refused must not have been carried out. */
function* ofRefusals(ledger: Ledger, { messages, turns }: Kept): Generator<string> {
  const byKey = new Map(messages.map((message) => [message.content, message]));
  const turnOf = new Map(turns.map((turn) => [turn.user_message_id, turn]));
  for (const { key, status, reason } of ledger.of('refused')) {
    const turn = turnOf.get(byKey.get(key)?.id ?? '');
    if (turn?.status === 'completed')
      yield `${key} was refused with ${status} (${reason}), and its turn is completed`;
  }
}

function* ofHooks(ledger: Ledger, { hooks }: Kept): Generator<string> {
  for (const { hook, path } of ledger.of('hook')) {
    const same = hooks.filter(({ url }) => url.endsWith(path));
    if (same.length !== 1 || same[0]?.id !== hook)
      yield `webhook ${hook} (${path}) was acknowledged; there are ${same.length} of it`;
  }
}

function* ofSettings(ledger: Ledger, { settings }: Kept): Generator<string> {
  const last = ledger.of('setting').at(-1);
  const found = settings.get('agent.max_waiting');
  if (last !== undefined && found !== last.value)
    yield `the setting ${last.value} was acknowledged last, and it is ${JSON.stringify(found)}`;
}
