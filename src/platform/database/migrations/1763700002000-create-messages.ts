import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Messages in order, their attachments, and the turns that answer them. */
export class CreateMessages1763700002000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE messages (
        id          text COLLATE "C" PRIMARY KEY,
        session_id  text COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        turn_id     text COLLATE "C" NOT NULL,
        seq         integer,
        role        text NOT NULL CHECK (role IN ('user', 'assistant')),
        content     text NOT NULL,
        tool_calls  json NOT NULL DEFAULT '[]',
        attachments json NOT NULL DEFAULT '[]',
        tokens_used integer NOT NULL DEFAULT 0,
        model       text,
        created_at  timestamptz(3) NOT NULL DEFAULT now()
      )`);
    await runner.query(`CREATE UNIQUE INDEX messages_in_order ON messages (session_id, seq)`);
    await runner.query(`
      CREATE TABLE attachments (
        id         text COLLATE "C" PRIMARY KEY,
        message_id text COLLATE "C" NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
        data       bytea NOT NULL
      )`);
    await runner.query(`CREATE INDEX attachments_by_message ON attachments (message_id)`);
    await runner.query(`
      CREATE TABLE turns (
        id              text COLLATE "C" PRIMARY KEY,
        session_id      text COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        user_message_id text COLLATE "C" NOT NULL,
        arrival         bigint GENERATED ALWAYS AS IDENTITY,
        status          text NOT NULL
          CHECK (status IN ('waiting', 'running', 'completed', 'failed', 'interrupted', 'cancelled')),
        fence           bigint,
        owner           text,
        wait_until      timestamptz(3),
        reason          text,
        model           text,
        input_tokens    bigint NOT NULL DEFAULT 0,
        output_tokens   bigint NOT NULL DEFAULT 0,
        created_at      timestamptz(3) NOT NULL DEFAULT now(),
        started_at      timestamptz(3),
        ended_at        timestamptz(3)
      ) WITH (fillfactor = 85)`);
    await runner.query(`CREATE INDEX turns_waiting ON turns (session_id, arrival) WHERE status = 'waiting'`);
    await runner.query(`CREATE INDEX turns_running ON turns (session_id) WHERE status = 'running'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE turns`);
    await runner.query(`DROP TABLE attachments`);
    await runner.query(`DROP TABLE messages`);
  }
}
