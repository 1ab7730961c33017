import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What came with a message and was not shown to the model that answered, so that its writer can be told. */
export class NoteUnseenMedia1795422000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE turns ADD COLUMN unseen_media text[]');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE turns DROP COLUMN unseen_media');
  }
}
