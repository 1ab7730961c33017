import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The state of each channel, shared by all replicas. */
export class CreateChannelStates1763700007000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE channel_states (
        name            text COLLATE "C" PRIMARY KEY,
        last_message_at timestamptz(3)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE channel_states');
  }
}
