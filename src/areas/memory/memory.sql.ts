import { columnsOf } from '../../platform/database/entity-columns.js';
import { arrayOf, bigint, boolean, double, integer, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { MemoryEntryEntity } from './memory.entity.js';

/** How many entries with the rarest words are scored. */
const MAX_FOUND = 500;
/** How many of the newest entries are scored, whatever their words. */
const MAX_NEW = 250;
/** A word in more entries than this is not looked up: the newest entries have it anyway, and the look-up is slow. */
const MAX_COMMON = 10_000;
const MAX_WORDS = 16;
const USED = `interval '1 day'`;

/** Returns the user if the session was created for this user and no one else writes in it. */
const PERSONAL = `
  SELECT user_id FROM sessions WHERE id = :session AND user_id = :user AND names_user
    AND NOT EXISTS (
      SELECT 1 FROM channel_conversations WHERE session_id = :session AND sole_user IS DISTINCT FROM :user)`;

const CONTEXT = { session: text, user: text };
const ENTRY = columnsOf(MemoryEntryEntity, 'id', 'content', 'createdAt');
/** Stems with the user's mark. Stop words have no stem. */
const stems = (mark: string, words: string): string =>
  `SELECT DISTINCT ${mark} || stem AS word FROM unnest(${words}::text[]) AS said, unnest(ts_lexize('english_stem', said)) AS stem`;
/** Words hold only letters, digits and marks, so they cannot contain operators. */
const queryOf = (operator: '|' | '&'): string => `string_agg(quote_literal(word), '${operator}')::tsquery`;

export const IS_PERSONAL = statement({
  name: 'memory.is_personal',
  params: CONTEXT,
  row: { user_id: text },
  sql: PERSONAL,
});

/**
 * Scores a bounded number of entries however many there
 * are: those with the rarest of the words, and the newest. Returns first those that share the rarest words with the
 * question, then the newest.
 */
export const RECALL = statement({
  name: 'memory.recall',
  params: { ...CONTEXT, mark: text, words: arrayOf(text), most: integer },
  row: { ...ENTRY, score: double },
  sql: `
    WITH person AS MATERIALIZED (
      SELECT entries FROM memory_users WHERE user_id = (${PERSONAL})
    ), asked AS MATERIALIZED (
      SELECT known.word, quote_literal(known.word)::tsquery AS query,
        ln(1 + person.entries::float8 / known.entries) AS weight,
        row_number() OVER rarest AS place, sum(known.entries) OVER rarest AS reach
      FROM person, memory_words AS known WHERE known.word IN (${stems(':mark', ':words')}) AND known.entries > 0
      WINDOW rarest AS (ORDER BY known.entries, known.word) ORDER BY known.entries, known.word LIMIT ${MAX_WORDS}
    ), rare AS MATERIALIZED (
      SELECT ${queryOf('|')} AS query FROM asked WHERE reach <= ${MAX_FOUND} OR (place = 1 AND reach <= ${MAX_COMMON})
    ), looked_at AS MATERIALIZED (
      (SELECT id, user_id, words, created_at FROM memory_entries WHERE words @@ (SELECT query FROM rare) LIMIT ${MAX_FOUND})
      UNION ALL
      SELECT * FROM (
        SELECT id, user_id, words, created_at FROM memory_entries
        WHERE user_id = :user AND EXISTS (SELECT 1 FROM person) ORDER BY created_at DESC, id DESC LIMIT ${MAX_NEW}
      ) AS new
    ), best AS MATERIALIZED (
      -- An entry found both ways is there twice, in adjacent rows.
      SELECT DISTINCT id, created_at, score FROM (
        SELECT id, created_at, coalesce((SELECT sum(weight) FROM asked WHERE looked_at.words @@ asked.query), 0) AS score
        FROM looked_at WHERE user_id = :user ORDER BY score DESC, created_at DESC, id DESC LIMIT 2 * :most::int
      ) AS twice ORDER BY score DESC, created_at DESC, id DESC LIMIT :most::int
    ), used AS (
      UPDATE memory_entries SET used_at = now() WHERE id IN (
        SELECT one.id FROM memory_entries AS one JOIN best ON best.id = one.id AND best.score > 0
        WHERE one.used_at < now() - ${USED} FOR UPDATE OF one SKIP LOCKED)
    )
    SELECT best.id, best.created_at, best.score, one.content FROM best JOIN memory_entries AS one ON one.id = best.id
    ORDER BY best.score DESC, best.created_at DESC, best.id DESC`,
});

/** Known content only gets a new `used_at`. */
export const STORE = statement({
  name: 'memory.store',
  params: { ...CONTEXT, mark: text, words: arrayOf(text), id: text, content: text, digest: text },
  row: { id: text, fresh: boolean },
  sql: `
    INSERT INTO memory_entries (id, user_id, content, digest, words, session_id)
    SELECT :id, user_id, :content, :digest, array_to_tsvector(ARRAY(${stems(':mark', ':words')})), :session FROM (${PERSONAL}) AS person
    ON CONFLICT (user_id, digest) DO UPDATE SET used_at = now()
    RETURNING id, (id = :id) AS fresh`,
});

/** Locks in one order everywhere, so that concurrent deletions do not deadlock. */
const locked = (ids: string): string =>
  `SELECT id FROM memory_entries WHERE id IN (${ids}) ORDER BY id FOR UPDATE`;

export const IS_OVER = statement({
  name: 'memory.is_over',
  params: { user: text, most: integer },
  row: { entries: integer },
  sql: 'SELECT entries FROM memory_users WHERE user_id = :user AND entries > :most',
});
/** Only one transaction at a time trims what a user has: two would both delete what is too much. */
export const LOCK_TRIM = statement({
  name: 'memory.lock_trim',
  params: { user: text },
  row: {},
  sql: `SELECT pg_advisory_xact_lock(hashtextextended('memories of ' || :user::text, 0))`,
});
/** Deletes the least recently used ones. */
export const TRIM = statement({
  name: 'memory.trim',
  params: { user: text, most: integer },
  row: { id: text },
  sql: `
    DELETE FROM memory_entries WHERE id IN (${locked(`
      SELECT id FROM (
        SELECT id FROM memory_entries WHERE user_id = :user ORDER BY used_at, id
        LIMIT greatest((SELECT entries FROM memory_users WHERE user_id = :user) - :most::int, 0)) AS oldest`)})
    RETURNING id`,
});

export const FORGET = statement({
  name: 'memory.forget',
  params: { ...CONTEXT, ids: arrayOf(text) },
  row: ENTRY,
  sql: `
    DELETE FROM memory_entries WHERE user_id = (${PERSONAL}) AND id IN (${locked(
      'SELECT id FROM memory_entries WHERE user_id = :user AND id = ANY (:ids)',
    )})
    RETURNING id, content, created_at`,
});

/** An entry must have all the words. */
export const FORGET_FOUND = statement({
  name: 'memory.forget_found',
  params: { ...CONTEXT, mark: text, words: arrayOf(text), most: bigint },
  row: ENTRY,
  sql: `
    WITH asked AS MATERIALIZED (
      SELECT ${queryOf('&')} AS query FROM (${stems(':mark', ':words')}) AS stemmed
    ), found AS MATERIALIZED (
      SELECT id, user_id FROM memory_entries WHERE words @@ (SELECT query FROM asked) LIMIT :most
    )
    DELETE FROM memory_entries WHERE user_id = (${PERSONAL})
      AND id IN (${locked('SELECT id FROM found WHERE user_id = :user')})
    RETURNING id, content, created_at`,
});

export const LIST = statement({
  name: 'memory.list',
  params: { user: text, most: bigint },
  row: ENTRY,
  sql: `
    SELECT id, content, created_at FROM memory_entries WHERE user_id = :user ORDER BY created_at DESC, id DESC LIMIT :most`,
});
export const FORGET_USER = statement({
  name: 'memory.forget_user',
  params: { user: text },
  row: { id: text },
  sql: `DELETE FROM memory_entries WHERE user_id = :user RETURNING id`,
});
export const COUNT = statement({
  name: 'memory.count',
  params: {},
  row: { entries: double },
  sql: `SELECT coalesce(sum(entries), 0)::float8 AS entries FROM memory_users`,
});

/** SQL condition: the user has memories. Reads one row, so that turns without memories skip the recall statement. */
export function hasMemories(userId: string): string {
  return `EXISTS (SELECT 1 FROM memory_users AS known WHERE known.user_id = ${userId} AND known.entries > 0)`;
}
