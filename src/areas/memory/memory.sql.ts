import type { Statement } from '../../platform/database/sql.js';

/** How many entries with the rarest words are scored. */
const MAX_FOUND = 500;
/** How many of the newest entries are scored, whatever their words. */
const MAX_NEW = 250;
/** A word in more entries than this is not looked up: the newest entries have it anyway, and the look-up is slow. */
const MAX_COMMON = 10_000;
const MAX_WORDS = 16;
const USED = `interval '1 day'`;

/** `$1` session, `$2` user. Returns the user if the session was created for this user and no one else writes in it. */
const PERSONAL = `
  SELECT user_id FROM sessions WHERE id = $1 AND user_id = $2 AND names_user
    AND NOT EXISTS (
      SELECT 1 FROM channel_conversations WHERE session_id = $1 AND sole_user IS DISTINCT FROM $2)`;
/** Stems with the user's mark. Stop words have no stem. */
const stems = (mark: string, words: string): string =>
  `SELECT DISTINCT ${mark} || stem AS word FROM unnest(${words}::text[]) AS said, unnest(ts_lexize('english_stem', said)) AS stem`;
/** Words hold only letters, digits and marks, so they cannot contain operators. */
const queryOf = (operator: '|' | '&'): string => `string_agg(quote_literal(word), '${operator}')::tsquery`;

export const IS_PERSONAL: Statement = { name: 'memory.is_personal', text: PERSONAL };

/**
 * `$1` session, `$2` user, `$3` the user's mark, `$4` words, `$5` limit. Scores a bounded number of entries however many there
 * are: those with the rarest of the words, and the newest. Returns first those that share the rarest words with the
 * question, then the newest.
 */
export const RECALL: Statement = {
  name: 'memory.recall',
  text: `
    WITH person AS MATERIALIZED (
      SELECT entries FROM memory_users WHERE user_id = (${PERSONAL})
    ), asked AS MATERIALIZED (
      SELECT known.word, quote_literal(known.word)::tsquery AS query,
        ln(1 + person.entries::float8 / known.entries) AS weight,
        row_number() OVER rarest AS place, sum(known.entries) OVER rarest AS reach
      FROM person, memory_words AS known WHERE known.word IN (${stems('$3', '$4')}) AND known.entries > 0
      WINDOW rarest AS (ORDER BY known.entries, known.word) ORDER BY known.entries, known.word LIMIT ${MAX_WORDS}
    ), rare AS MATERIALIZED (
      SELECT ${queryOf('|')} AS query FROM asked WHERE reach <= ${MAX_FOUND} OR (place = 1 AND reach <= ${MAX_COMMON})
    ), looked_at AS MATERIALIZED (
      (SELECT id, user_id, words, created_at FROM memory_entries WHERE words @@ (SELECT query FROM rare) LIMIT ${MAX_FOUND})
      UNION ALL
      SELECT * FROM (
        SELECT id, user_id, words, created_at FROM memory_entries
        WHERE user_id = $2 AND EXISTS (SELECT 1 FROM person) ORDER BY created_at DESC, id DESC LIMIT ${MAX_NEW}
      ) AS new
    ), best AS MATERIALIZED (
      -- An entry found both ways is there twice, in adjacent rows.
      SELECT DISTINCT id, created_at, score FROM (
        SELECT id, created_at, coalesce((SELECT sum(weight) FROM asked WHERE looked_at.words @@ asked.query), 0) AS score
        FROM looked_at WHERE user_id = $2 ORDER BY score DESC, created_at DESC, id DESC LIMIT 2 * $5::int
      ) AS twice ORDER BY score DESC, created_at DESC, id DESC LIMIT $5::int
    ), used AS (
      UPDATE memory_entries SET used_at = now() WHERE id IN (
        SELECT one.id FROM memory_entries AS one JOIN best ON best.id = one.id AND best.score > 0
        WHERE one.used_at < now() - ${USED} FOR UPDATE OF one SKIP LOCKED)
    )
    SELECT best.id, best.created_at, best.score, one.content FROM best JOIN memory_entries AS one ON one.id = best.id
    ORDER BY best.score DESC, best.created_at DESC, best.id DESC`,
};

/** `$1` session, `$2` user, `$3` mark, `$4` words, `$5` id, `$6` content, `$7` digest. Known content only gets a new `used_at`. */
export const STORE: Statement = {
  name: 'memory.store',
  text: `
    INSERT INTO memory_entries (id, user_id, content, digest, words, session_id)
    SELECT $5, user_id, $6, $7, array_to_tsvector(ARRAY(${stems('$3', '$4')})), $1 FROM (${PERSONAL}) AS person
    ON CONFLICT (user_id, digest) DO UPDATE SET used_at = now()
    RETURNING id, (id = $5) AS fresh`,
};

/** `$1` user, `$2` maximum number of entries. Deletes the least recently used ones. */
export const TRIM: Statement = {
  name: 'memory.trim',
  text: `
    DELETE FROM memory_entries WHERE id IN (
      SELECT id FROM memory_entries WHERE user_id = $1 ORDER BY used_at, id
      LIMIT greatest((SELECT entries FROM memory_users WHERE user_id = $1) - $2::int, 0) FOR UPDATE SKIP LOCKED)
    RETURNING id`,
};

/** Locks in one order everywhere, so that concurrent deletions do not deadlock. */
const locked = (ids: string): string =>
  `SELECT id FROM memory_entries WHERE id IN (${ids}) ORDER BY id FOR UPDATE`;

/** `$1` session, `$2` user, `$3` ids. */
export const FORGET: Statement = {
  name: 'memory.forget',
  text: `
    DELETE FROM memory_entries WHERE user_id = (${PERSONAL}) AND id IN (${locked(
      'SELECT id FROM memory_entries WHERE user_id = $2 AND id = ANY ($3)',
    )})
    RETURNING id, content, created_at`,
};

/** `$1` session, `$2` user, `$3` mark, `$4` words that an entry must all have, `$5` limit. */
export const FORGET_FOUND: Statement = {
  name: 'memory.forget_found',
  text: `
    WITH asked AS MATERIALIZED (
      SELECT ${queryOf('&')} AS query FROM (${stems('$3', '$4')}) AS stemmed
    ), found AS MATERIALIZED (
      SELECT id, user_id FROM memory_entries WHERE words @@ (SELECT query FROM asked) LIMIT $5
    )
    DELETE FROM memory_entries WHERE user_id = (${PERSONAL})
      AND id IN (${locked('SELECT id FROM found WHERE user_id = $2')})
    RETURNING id, content, created_at`,
};

/** `$1` user, `$2` limit. */
export const LIST: Statement = {
  name: 'memory.list',
  text: `
    SELECT id, content, created_at FROM memory_entries WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`,
};
export const FORGET_USER: Statement = {
  name: 'memory.forget_user',
  text: `DELETE FROM memory_entries WHERE user_id = $1 RETURNING id`,
};
export const COUNT: Statement = {
  name: 'memory.count',
  text: `SELECT coalesce(sum(entries), 0)::float8 AS entries FROM memory_users`,
};

/** SQL condition: the user has memories. Reads one row, so that turns without memories skip the recall statement. */
export function hasMemories(userId: string): string {
  return `EXISTS (SELECT 1 FROM memory_users AS known WHERE known.user_id = ${userId} AND known.entries > 0)`;
}
