import type { Statement } from '../../platform/database/sql.js';

/** Rows of the rarest words that are looked at. */
const MAX_FOUND = 500;
/** Newest rows that are looked at, whatever their words. */
const MAX_NEW = 250;
/** A word that more entries have is among the newest anyway, and takes long to look up. */
const MAX_COMMON = 10_000;
const MAX_WORDS = 16;
const USED = `interval '1 day'`;

/** `$1` session, `$2` user: the session is this one person's, said so when it was made, and nobody else writes there. */
const PERSONAL = `
  SELECT user_id FROM sessions WHERE id = $1 AND user_id = $2 AND names_user
    AND NOT EXISTS (
      SELECT 1 FROM channel_conversations WHERE session_id = $1 AND sole_user IS DISTINCT FROM $2)`;
/** Words that say nothing have no stem. */
const stems = (mark: string, words: string): string =>
  `SELECT DISTINCT ${mark} || stem AS word FROM unnest(${words}::text[]) AS said, unnest(ts_lexize('english_stem', said)) AS stem`;
/** Words are letters, digits and marks, so nothing in them is an operator. */
const queryOf = (operator: '|' | '&'): string => `string_agg(quote_literal(word), '${operator}')::tsquery`;

export const IS_PERSONAL: Statement = { name: 'memory.is_personal', text: PERSONAL };

/**
 * `$3` the user's mark, `$4` words, `$5` how many. However much there is, a bounded number of entries is looked at: those
 * with the rarest of the words, and the newest. The best share the rarest words with the question; then come the newest.
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
      -- What was found both ways stands there twice, side by side.
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

/** `$1` session, `$2` user, `$3` mark, `$4` words, `$5` id, `$6` content, `$7` digest. What is known is used again. */
export const STORE: Statement = {
  name: 'memory.store',
  text: `
    INSERT INTO memory_entries (id, user_id, content, digest, words, session_id)
    SELECT $5, user_id, $6, $7, array_to_tsvector(ARRAY(${stems('$3', '$4')})), $1 FROM (${PERSONAL}) AS person
    ON CONFLICT (user_id, digest) DO UPDATE SET used_at = now()
    RETURNING id, (id = $5) AS fresh`,
};

/** `$1` user, `$2` most entries: what has not been used for longest goes. */
export const TRIM: Statement = {
  name: 'memory.trim',
  text: `
    DELETE FROM memory_entries WHERE id IN (
      SELECT id FROM memory_entries WHERE user_id = $1 ORDER BY used_at, id
      LIMIT greatest((SELECT entries FROM memory_users WHERE user_id = $1) - $2::int, 0) FOR UPDATE SKIP LOCKED)
    RETURNING id`,
};

/** In one order for all, so that two who forget the same do not wait for each other in a circle. */
const locked = (ids: string): string =>
  `SELECT id FROM memory_entries WHERE id IN (${ids}) ORDER BY id FOR UPDATE`;

/** `$3` ids. */
export const FORGET: Statement = {
  name: 'memory.forget',
  text: `
    DELETE FROM memory_entries WHERE user_id = (${PERSONAL}) AND id IN (${locked(
      'SELECT id FROM memory_entries WHERE user_id = $2 AND id = ANY ($3)',
    )})
    RETURNING id, content, created_at`,
};

/** `$3` mark, `$4` words, of which an entry must have every one; `$5` most entries. */
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

/** `$1` user. */
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
