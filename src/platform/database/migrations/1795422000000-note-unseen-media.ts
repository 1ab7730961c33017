import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What came with a message and was not shown to the model that answered, so that its writer can be told. A list as JSON:
 * at the third array column TypeORM's drift check asks twice at once on one connection, and the driver warns at each start.
 */
export class NoteUnseenMedia1795422000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE turns ADD COLUMN unseen_media json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE turns DROP COLUMN unseen_media');
  }
}
