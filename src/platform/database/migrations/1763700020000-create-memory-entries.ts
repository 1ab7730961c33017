import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is remembered of users, with its words for searching; and what shows whose memories a session makes: whether its
 * user was named, and whether a channel's conversation has a single person in it. For older sessions neither is known,
 * so nothing is remembered in them.
 */
export class CreateMemoryEntries1763700020000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE memory_entries (
        id         text COLLATE "C" PRIMARY KEY,
        user_id    text COLLATE "C" NOT NULL,
        content    text NOT NULL,
        digest     text COLLATE "C" NOT NULL,
        words      tsvector NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        used_at    timestamptz(3) NOT NULL DEFAULT now()
      ) WITH (fillfactor = 85)`);
    await runner.query(`CREATE UNIQUE INDEX memory_entries_once ON memory_entries (user_id, digest)`);
    await runner.query(
      `CREATE INDEX memory_entries_newest ON memory_entries (user_id, created_at DESC, id DESC)`,
    );
    // Without the list of pending entries, which every search would read whole.
    await runner.query(
      `CREATE INDEX memory_entries_words ON memory_entries USING gin (words) WITH (fastupdate = off)`,
    );
    await this.createTallies(runner);
    await runner.query(`ALTER TABLE sessions ADD COLUMN names_user boolean NOT NULL DEFAULT false`);
    await runner.query(`ALTER TABLE channel_conversations ADD COLUMN sole_user text`);
    await runner.query(`
      CREATE INDEX channel_conversations_by_session ON channel_conversations (session_id)
      WHERE session_id IS NOT NULL`);
  }

  /**
   * How many entries a user has, and how many of them contain a word. The row of the user is locked first, so that
   * changes to one user's memories run one after the other and cannot deadlock.
   */
  private async createTallies(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE memory_users (
        user_id text COLLATE "C" PRIMARY KEY,
        entries integer NOT NULL
      ) WITH (fillfactor = 50)`);
    await runner.query(`
      CREATE TABLE memory_words (
        word    text COLLATE "C" PRIMARY KEY,
        entries integer NOT NULL
      ) WITH (fillfactor = 70)`);
    await runner.query(`
      CREATE FUNCTION tally_memories() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        step integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
      BEGIN
        INSERT INTO memory_users AS one SELECT user_id, step * count(*) FROM changed GROUP BY user_id ORDER BY user_id
        ON CONFLICT (user_id) DO UPDATE SET entries = one.entries + excluded.entries;
        INSERT INTO memory_words AS one
        SELECT word, step * count(*) FROM changed, unnest(tsvector_to_array(words)) AS word GROUP BY word ORDER BY word
        ON CONFLICT (word) DO UPDATE SET entries = one.entries + excluded.entries;
        IF step < 0 THEN
          DELETE FROM memory_words
          WHERE entries <= 0 AND word IN (SELECT unnest(tsvector_to_array(words)) FROM changed);
          DELETE FROM memory_users WHERE entries <= 0 AND user_id IN (SELECT user_id FROM changed);
        END IF;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER memory_entries_inserted AFTER INSERT ON memory_entries
      REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_memories()`);
    await runner.query(`
      CREATE TRIGGER memory_entries_deleted AFTER DELETE ON memory_entries
      REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tally_memories()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX channel_conversations_by_session`);
    await runner.query(`ALTER TABLE channel_conversations DROP COLUMN sole_user`);
    await runner.query(`ALTER TABLE sessions DROP COLUMN names_user`);
    await runner.query(`DROP TABLE memory_entries`);
    await runner.query(`DROP FUNCTION tally_memories()`);
    await runner.query(`DROP TABLE memory_words`);
    await runner.query(`DROP TABLE memory_users`);
  }
}
