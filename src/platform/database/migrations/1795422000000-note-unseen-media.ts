import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Media that came with a message and was not shown to the model that answered, so that its writer can be told. A list
 * as JSON: with a third array column TypeORM's drift check sends two queries at once on one connection, and the driver
 * warns at each start.
 */
export class NoteUnseenMedia1795422000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE turns ADD COLUMN unseen_media json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE turns DROP COLUMN unseen_media');
  }
}
