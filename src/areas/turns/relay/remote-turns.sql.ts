import { columnsOf } from '../../../platform/database/entity-columns.js';
import { arrayOf, boolean, integer, orNull, text } from '../../../platform/database/sql-types.js';
import { statement } from '../../../platform/database/statement.js';
import { dueQuestion } from '../../../platform/runtime/due-question.js';
import { TurnEntity } from '../turn.entity.js';
import { SessionAudienceEntity, TurnFrameEntity } from './relay.entities.js';

/** A replica that says nothing for this long has no viewers any more; it repeats its entry every third of that time. */
export const WATCHED_SECS = 10;

/** Whether another replica than `replica` has viewers of `session`; both are SQL. */
export function isWatchedElsewhere(session: string, replica: string): string {
  return `EXISTS (SELECT 1 FROM session_audiences AS audience WHERE audience.session_id = ${session}
    AND audience.replica <> ${replica} AND audience.wanted_until > now())`;
}

export const WATCH = statement({
  name: 'remote_turns.watch',
  params: { ...columnsOf(SessionAudienceEntity, 'replica'), sessions: arrayOf(text) },
  row: {},
  sql: `
    INSERT INTO session_audiences (session_id, replica, wanted_until)
    SELECT session_id, :replica, now() + interval '${WATCHED_SECS} seconds' FROM unnest(:sessions::text[]) AS seen (session_id)
    ORDER BY session_id
    ON CONFLICT (session_id, replica) DO UPDATE SET wanted_until = excluded.wanted_until`,
});

/** A turn that has begun, on any replica. */
const STARTED_ROW = {
  session_id: text,
  /** The place of its message in the history. */
  seq: integer,
  turn_id: text,
  ...columnsOf(TurnEntity, 'status', 'owner'),
};
const STARTED = 'said.session_id, said.seq, turns.id AS turn_id, turns.status, turns.owner';

export const LATEST = statement({
  name: 'remote_turns.latest',
  params: { session: text },
  row: STARTED_ROW,
  sql: `
    SELECT ${STARTED} FROM messages AS said JOIN turns ON turns.id = said.turn_id
    WHERE said.session_id = :session AND said.seq IS NOT NULL AND said.role = 'user' ORDER BY said.seq DESC LIMIT 1`,
});
export const STARTED_AFTER = statement({
  name: 'remote_turns.begun_after',
  params: { sessions: arrayOf(text), places: arrayOf(integer) },
  row: STARTED_ROW,
  sql: `
    SELECT ${STARTED} FROM unnest(:sessions::text[], :places::int[]) AS known (session_id, seq)
    JOIN messages AS said ON said.session_id = known.session_id AND said.seq > known.seq AND said.role = 'user'
    JOIN turns ON turns.id = said.turn_id ORDER BY said.session_id, said.seq`,
});

/** Reads both in one statement, so that no frame of a turn that is over can be missed. */
export const READ = statement({
  name: 'remote_turns.read',
  params: { turns: arrayOf(text), after: arrayOf(integer) },
  row: {
    turn_id: text,
    ...columnsOf(TurnEntity, 'status'),
    ...orNull(columnsOf(TurnFrameEntity, 'n', 'events')),
  },
  sql: `
    SELECT turns.id AS turn_id, turns.status, frames.n, frames.events
    FROM unnest(:turns::text[], :after::int[]) AS known (turn_id, n) JOIN turns ON turns.id = known.turn_id
    LEFT JOIN turn_frames AS frames ON frames.turn_id = known.turn_id AND frames.n > known.n
    ORDER BY turns.id, frames.n`,
});
export const WRITE = statement({
  name: 'remote_turns.write',
  params: { turns: arrayOf(text), numbers: arrayOf(integer), events: arrayOf(text) },
  row: {},
  sql: `
    INSERT INTO turn_frames (turn_id, n, events)
    SELECT * FROM unnest(:turns::text[], :numbers::int[], :events::text[]) ON CONFLICT DO NOTHING`,
});

/** Whether there may be anything to forget. */
export const ANY_FRAMES = dueQuestion({
  name: 'turn_frames',
  params: {},
  answer: boolean,
  sql: '(EXISTS (SELECT 1 FROM turn_frames) OR EXISTS (SELECT 1 FROM session_audiences))',
});
/** By the time the frames are deleted, viewers on other replicas have had time to read a turn's end. */
export const FORGET_FRAMES = statement({
  name: 'remote_turns.forget_frames',
  params: {},
  row: {},
  sql: `
    DELETE FROM turn_frames WHERE NOT EXISTS (
      SELECT 1 FROM turns WHERE turns.id = turn_frames.turn_id
        AND (status IN ('running', 'awaiting_approval') OR ended_at > now() - interval '20 seconds'))`,
});
export const FORGET_AUDIENCES = statement({
  name: 'remote_turns.forget_audiences',
  params: {},
  row: {},
  sql: `DELETE FROM session_audiences WHERE wanted_until < now() - interval '1 minute'`,
});
