import type { Pool } from 'pg';
import { SessionStore } from '../../src/areas/sessions/session.store.js';
import { allowanceOf } from '../../src/areas/turns/limits/turn-allowance.js';
import { MessageStore } from '../../src/areas/turns/message.store.js';
import { TurnStore } from '../../src/areas/turns/turn.store.js';
import { TurnEndingsStore } from '../../src/areas/turns/turn-endings.store.js';
import type { TurnMetrics } from '../../src/areas/turns/turn-metrics.js';
import { TurnSpending } from '../../src/areas/usage/cost.js';
import { EventSignal } from '../../src/platform/events/event.store.js';
import { ReplicaId } from '../../src/platform/lifecycle/replica-id.js';
import { FixedSettings } from '../../src/platform/settings/settings.js';
import { settingsSchema } from '../../src/platform/settings/settings.schema.js';
import { RecordingDatabase, type Step } from './recording-database.js';

/** Values that mark the places of parameters in the recording. None of them occurs otherwise. */
export const SAMPLE = {
  limit: 41,
  offset: 43,
  fence: 7_654_321,
  place: 654_321,
  content: 'What the sample says.',
  answer: 'What the sample answers.',
} as const;

export interface ProductSql {
  readonly sessionId: string;
  readonly answerId: string;
  readonly create: readonly Step[];
  readonly find: readonly Step[];
  readonly list: readonly Step[];
  readonly begin: readonly Step[];
  readonly complete: readonly Step[];
  readonly place: readonly Step[];
  readonly before: readonly Step[];
}

const LIMITS = { idleSecs: 31_536_000, timeoutSecs: 31_535_999 };

/** Has the product's stores perform each operation once and records the SQL, which the bare server then repeats. */
export async function recordProductSql(pool: Pool, historyMessages: number): Promise<ProductSql> {
  const database = new RecordingDatabase(pool);
  const signal = new EventSignal();
  const settings = new FixedSettings(settingsSchema.parse({}));
  const sessions = new SessionStore(database, signal);
  const replica = new ReplicaId();
  const turns = new TurnStore(database, replica, signal, settings);
  // The store counts only turns whose replica is gone, and here there are none.
  const metrics = { lost: () => undefined } as unknown as TurnMetrics;
  const endings = new TurnEndingsStore(database, replica, signal, settings, metrics);
  const messages = new MessageStore(database);

  const { id: sessionId } = await sessions.insert({
    channel: 'api',
    userId: 'bench',
    namesUser: false,
    agent: 'default',
    systemPrompt: null,
    model: null,
    metadata: {},
  });
  const create = database.take();
  await sessions.find(sessionId, LIMITS);
  const find = database.take();
  await sessions.list({ status: 'live' }, { limit: SAMPLE.limit, offset: SAMPLE.offset }, LIMITS);
  const list = database.take();

  const counts = [SAMPLE.fence - 1, SAMPLE.place - 1, sessionId];
  await pool.query('UPDATE sessions SET turn_fence = $1, message_count = $2 WHERE id = $3', counts);
  const message = { content: SAMPLE.content, attachments: [] };
  const caller = { tokenId: 'bench', tokenName: 'bench', scopes: [], boundUserId: null };
  const allowance = allowanceOf(settings.current.limits, caller, []);
  const limits = {
    timeoutSecs: LIMITS.timeoutSecs,
    historyMessages,
    allowance,
    limits: settings.current.limits,
    origin: { caller },
  };
  const begun = await turns.start(sessionId, message, limits);
  const begin = database.take();
  if (begun === undefined) throw new Error('The sample session could not be taken.');
  const outcome = {
    content: SAMPLE.answer,
    toolCalls: [],
    usage: { input: 11, output: 7 },
    model: 'bench',
    finishReason: 'stop' as const,
  };
  const spending = new TurnSpending({ provider: 'default', model: 'bench' });
  spending.add({ provider: 'default', model: 'bench', usage: outcome.usage, costUsd: 0.001 });
  const answer = await endings.complete(begun.lease, outcome, { spending, caller });
  const complete = database.take();
  if (answer === undefined) throw new Error('The sample turn could not be completed.');

  await messages.positionOf(sessionId, answer.id);
  const place = database.take();
  await messages.before(sessionId, SAMPLE.place, SAMPLE.limit - 1);
  const before = database.take();
  await pool.query('DELETE FROM sessions WHERE id = $1', [sessionId]);
  return { sessionId, answerId: answer.id, create, find, list, begin, complete, place, before };
}
