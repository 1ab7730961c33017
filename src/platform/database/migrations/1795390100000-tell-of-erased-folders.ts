import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Folders of erased users lie on the machines of replicas. Each replica reads here which of them it has to delete. */
export class TellOfErasedFolders1795390100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE erased_folders (
        id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        folder text NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE erased_folders');
  }
}
