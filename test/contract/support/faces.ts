import type { ProfileId } from '../../../src/http/profiles/profile.js';
import type { TestGateway } from '../../harness/gateway.js';
import type { Answer, HttpCaller } from '../../harness/http-caller.js';

export const PROFILES: readonly ProfileId[] = ['a', 'b'];

export const ISO_UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Matches any integer in `toEqual`. */
export const anInteger: unknown = {
  asymmetricMatch: (value: unknown) => Number.isInteger(value),
  toString: () => 'an integer',
};

/** The differences between the two profiles, for tests that are otherwise the same. */
export const PROFILE_DIFFERENCES = {
  a: {
    profile: 'a',
    idKey: 'session_id',
    created: ['channel', 'created_at', 'session_id', 'status'],
    item: ['channel', 'created_at', 'message_count', 'session_id', 'status'],
    // `agent` is an addition (docs/specification/additions.md).
    detail: [
      'agent',
      'channel',
      'created_at',
      'message_count',
      'model',
      'session_id',
      'status',
      'total_tokens',
    ],
    idleWord: 'active',
    endedWord: 'completed',
    health: '/health',
  },
  b: {
    profile: 'b',
    idKey: 'id',
    created: ['channel', 'created_at', 'id', 'metadata', 'status', 'user_id'],
    item: ['channel', 'created_at', 'id', 'last_activity', 'status', 'user_id'],
    detail: [
      'agent',
      'channel',
      'created_at',
      'id',
      'last_activity',
      'metadata',
      'status',
      'token_usage',
      'turn_count',
      'user_id',
    ],
    idleWord: 'idle',
    endedWord: 'terminated',
    health: '/status/health',
  },
} as const satisfies Record<ProfileId, object>;

/** A JSON object of unknown shape. */
export type Wire = Record<string, unknown>;

export interface SessionListWire {
  readonly sessions: readonly Wire[];
  readonly total: number;
}

export interface MessageWire {
  readonly message_id: string;
  readonly role: string;
  readonly content: string;
  readonly created_at: string;
  readonly attachments: readonly Wire[];
  readonly tool_calls: readonly Wire[];
  readonly tokens_used: number;
  readonly model: string | null;
}

export interface HistoryWire {
  readonly messages: readonly MessageWire[];
  readonly has_more: boolean;
}

export function sortedKeys(value: unknown): string[] {
  return Object.keys(value as object).sort();
}

/** The id of a session in either profile's field. */
export function idIn(session: Wire): string {
  return String(session['session_id'] ?? session['id']);
}

/** Creates a session; fails when it is refused. */
export async function newSession(caller: HttpCaller, body: Wire = {}): Promise<string> {
  const answer = await caller.post<Wire>('/sessions', body);
  expect(answer.status).toBe(201);
  return idIn(answer.body);
}

export function say(caller: HttpCaller, id: string, content: string): Promise<Answer<MessageWire>> {
  return caller.post<MessageWire>(`/sessions/${id}/messages`, { content });
}

/** Makes a session look as if it had been silent for this many seconds. */
export async function makeQuiet(gateway: TestGateway, id: string, seconds: number): Promise<void> {
  await gateway.database.query(
    `UPDATE sessions SET quiet_since = quiet_since - make_interval(secs => $2) WHERE id = $1`,
    [id, seconds],
  );
}
