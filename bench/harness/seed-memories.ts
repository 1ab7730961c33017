import { markOf } from '../../src/areas/memory/memory.store.js';
import { indexTerms } from '../../src/areas/memory/terms.js';
import type { BenchDatabase } from './database-server.js';

const PER_STATEMENT = 5000;
const VOCABULARY = 20_000;
const WORDS_A_NOTE = 14;
const SYLLABLES = [
  'ba',
  'ke',
  'li',
  'mo',
  'nu',
  'ra',
  'se',
  'ti',
  'vo',
  'zu',
  '北',
  '京',
  '茶',
  '山',
  '水',
  '书',
];

/** Text with few frequent and many rare words, like what people write; every fifth word is Chinese. */
export class Prose {
  private seed = 1;

  words(count: number): string {
    return Array.from({ length: count }, () => wordOf(Math.floor(VOCABULARY ** this.next()))).join(' ');
  }

  /** Pseudorandom, the same in every run. */
  private next(): number {
    this.seed = (this.seed * 48_271) % 2_147_483_647;
    return this.seed / 2_147_483_647;
  }
}

/** Stores this many memories, user by user. */
export async function seedMemories(
  database: BenchDatabase,
  { users, each }: { users: readonly string[]; each: number },
): Promise<void> {
  const prose = new Prose();
  await database.query(
    `INSERT INTO sessions (id, channel, user_id, names_user, status, metadata)
     SELECT 's-' || name, 'api', name, true, 'active', '{}' FROM unnest($1::text[]) AS name`,
    [users],
  );
  const notes = users.flatMap((user) => Array.from({ length: each }, (_, n) => ({ user, n })));
  for (let from = 0; from < notes.length; from += PER_STATEMENT) {
    const some = notes.slice(from, from + PER_STATEMENT).map(({ user, n }) => {
      const content = prose.words(WORDS_A_NOTE);
      return { id: `mem_${user}_${n}`, user, content, mark: markOf(user), words: indexTerms(content) };
    });
    await database.query(
      `INSERT INTO memory_entries (id, user_id, content, digest, words, session_id, created_at)
       SELECT id, "user", content, id, array_to_tsvector(ARRAY(
           SELECT DISTINCT mark || stem FROM unnest(words) AS said, unnest(ts_lexize('english_stem', said)) AS stem)),
         's-' || "user", now() - make_interval(secs => $2 - n)
       FROM jsonb_to_recordset($1::jsonb) AS one (id text, "user" text, content text, mark text, words text[])
       CROSS JOIN LATERAL (SELECT substring(id FROM '\\d+$')::int AS n) AS numbered`,
      [JSON.stringify(some), each],
    );
  }
}

function wordOf(number: number): string {
  const at = (digit: number): string => SYLLABLES[digit] ?? '';
  if (number % 5 === 0) return at(10 + (number % 6)) + at(10 + ((number >> 3) % 6));
  return (
    at(number % 10) +
    at(Math.floor(number / 10) % 10) +
    at(Math.floor(number / 100) % 10) +
    number.toString(36)
  );
}
