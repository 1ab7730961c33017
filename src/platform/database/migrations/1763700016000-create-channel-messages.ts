import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * For each channel: the replica that receives, the conversations, the messages that arrived, and the replies to send.
 */
export class CreateChannelMessages1763700016000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE channel_states
        ADD COLUMN status         text NOT NULL DEFAULT 'reconnecting'
          CHECK (status IN ('connected', 'reconnecting', 'disconnected')),
        ADD COLUMN connected_at   timestamptz(3),
        ADD COLUMN error          text,
        ADD COLUMN owner          text,
        ADD COLUMN lease_until    timestamptz(3),
        ADD COLUMN fence          bigint NOT NULL DEFAULT 0,
        ADD COLUMN restarts       bigint NOT NULL DEFAULT 0,
        ADD COLUMN receive_cursor json`);
    await runner.query(`
      CREATE TABLE channel_conversations (
        channel      text COLLATE "C" NOT NULL,
        conversation text COLLATE "C" NOT NULL,
        session_id   text COLLATE "C",
        owner        text,
        lease_until  timestamptz(3),
        fence        bigint NOT NULL DEFAULT 0,
        retry_at     timestamptz(3),
        failures     integer NOT NULL DEFAULT 0,
        PRIMARY KEY (channel, conversation)
      ) WITH (fillfactor = 70)`);
    await runner.query(`
      CREATE TABLE channel_messages (
        id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        channel      text COLLATE "C" NOT NULL,
        conversation text COLLATE "C" NOT NULL,
        external_id  text COLLATE "C" NOT NULL,
        message_id   text COLLATE "C" NOT NULL,
        user_id      text NOT NULL,
        content      text NOT NULL,
        target       json NOT NULL,
        received_at  timestamptz(3) NOT NULL DEFAULT now(),
        answered_at  timestamptz(3),
        done_at      timestamptz(3)
      ) WITH (fillfactor = 85)`);
    await runner.query(
      `CREATE UNIQUE INDEX channel_messages_once ON channel_messages (channel, external_id)`,
    );
    await runner.query(`
      CREATE INDEX channel_messages_open ON channel_messages (channel, conversation, id) WHERE done_at IS NULL`);
    await runner.query(
      `CREATE INDEX channel_messages_done ON channel_messages (done_at) WHERE done_at IS NOT NULL`,
    );
    await runner.query(`
      CREATE TABLE channel_replies (
        message_id  text COLLATE "C" NOT NULL,
        part        integer NOT NULL,
        content     text NOT NULL,
        status      text NOT NULL
          CHECK (status IN ('draft', 'pending', 'sending', 'sent', 'unknown', 'failed')),
        external_id text,
        attempts    integer NOT NULL DEFAULT 0,
        error       text,
        PRIMARY KEY (message_id, part)
      ) WITH (fillfactor = 70)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE channel_replies');
    await runner.query('DROP TABLE channel_messages');
    await runner.query('DROP TABLE channel_conversations');
    await runner.query(`
      ALTER TABLE channel_states
        DROP COLUMN status, DROP COLUMN connected_at, DROP COLUMN error, DROP COLUMN owner,
        DROP COLUMN lease_until, DROP COLUMN fence, DROP COLUMN restarts, DROP COLUMN receive_cursor`);
  }
}
