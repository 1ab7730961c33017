import type { Statement } from '../../../platform/database/sql.js';

/** Whoever says nothing for so long has no viewers any more; it is said anew every third of it. */
export const WATCHED_SECS = 10;

/** Whether another replica than `replica` has viewers of `session`; both are SQL. */
export function isWatchedElsewhere(session: string, replica: string): string {
  return `EXISTS (SELECT 1 FROM session_audiences AS audience WHERE audience.session_id = ${session}
    AND audience.replica <> ${replica} AND audience.wanted_until > now())`;
}

export const WATCH: Statement = {
  name: 'remote_turns.watch',
  text: `
    INSERT INTO session_audiences (session_id, replica, wanted_until)
    SELECT session_id, $1, now() + interval '${WATCHED_SECS} seconds' FROM unnest($2::text[]) AS seen (session_id)
    ORDER BY session_id
    ON CONFLICT (session_id, replica) DO UPDATE SET wanted_until = excluded.wanted_until`,
};

const STARTED = 'said.session_id, said.seq, turns.id AS turn_id, turns.status, turns.owner';

export const LATEST: Statement = {
  name: 'remote_turns.latest',
  text: `
    SELECT ${STARTED} FROM messages AS said JOIN turns ON turns.id = said.turn_id
    WHERE said.session_id = $1 AND said.seq IS NOT NULL AND said.role = 'user' ORDER BY said.seq DESC LIMIT 1`,
};
export const STARTED_AFTER: Statement = {
  name: 'remote_turns.begun_after',
  text: `
    SELECT ${STARTED} FROM unnest($1::text[], $2::int[]) AS known (session_id, seq)
    JOIN messages AS said ON said.session_id = known.session_id AND said.seq > known.seq AND said.role = 'user'
    JOIN turns ON turns.id = said.turn_id ORDER BY said.session_id, said.seq`,
};

/** One look at both, so that a turn that is over has no frame that was not seen. */
export const READ: Statement = {
  name: 'remote_turns.read',
  text: `
    SELECT turns.id AS turn_id, turns.status, frames.n, frames.events
    FROM unnest($1::text[], $2::int[]) AS known (turn_id, n) JOIN turns ON turns.id = known.turn_id
    LEFT JOIN turn_frames AS frames ON frames.turn_id = known.turn_id AND frames.n > known.n
    ORDER BY turns.id, frames.n`,
};
export const WRITE: Statement = {
  name: 'remote_turns.write',
  text: `
    INSERT INTO turn_frames (turn_id, n, events)
    SELECT * FROM unnest($1::text[], $2::int[], $3::text[]) ON CONFLICT DO NOTHING`,
};

/** Viewers on other replicas have had time to read a turn's end when its frames go. */
/** Whether there is anything that may have to be forgotten. */
export const ANY_FRAMES = `(EXISTS (SELECT 1 FROM turn_frames) OR EXISTS (SELECT 1 FROM session_audiences))`;
export const FORGET_FRAMES: Statement = {
  name: 'remote_turns.forget_frames',
  text: `
    DELETE FROM turn_frames WHERE NOT EXISTS (
      SELECT 1 FROM turns WHERE turns.id = turn_frames.turn_id
        AND (status IN ('running', 'awaiting_approval') OR ended_at > now() - interval '20 seconds'))`,
};
export const FORGET_AUDIENCES: Statement = {
  name: 'remote_turns.forget_audiences',
  text: `DELETE FROM session_audiences WHERE wanted_until < now() - interval '1 minute'`,
};
