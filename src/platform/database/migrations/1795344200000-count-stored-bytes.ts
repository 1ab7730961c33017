import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How many bytes of attachments are stored for each API token. Triggers count them, so that attachments deleted with
 * their session count too; older attachments belong to no token.
 */
export class CountStoredBytes1795344200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE attachments ADD COLUMN token_family text COLLATE "C"`);
    await runner.query(`
      CREATE TABLE token_storage (
        token_family text COLLATE "C" NOT NULL,
        slot smallint NOT NULL,
        bytes bigint NOT NULL,
        CONSTRAINT token_storage_pkey PRIMARY KEY (token_family, slot)
      )`);
    await runner.query(`
      CREATE FUNCTION count_stored_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        family text;
        change bigint;
      BEGIN
        IF TG_OP = 'INSERT' THEN
          family := NEW.token_family;
          change := octet_length(NEW.data);
        ELSE
          family := OLD.token_family;
          change := -octet_length(OLD.data);
        END IF;
        INSERT INTO token_storage AS known (token_family, slot, bytes)
        VALUES (family, pg_backend_pid() % 16, change)
        ON CONFLICT (token_family, slot) DO UPDATE SET bytes = known.bytes + excluded.bytes;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER attachments_stored AFTER INSERT ON attachments FOR EACH ROW
      WHEN (NEW.token_family IS NOT NULL) EXECUTE FUNCTION count_stored_bytes()`);
    await runner.query(`
      CREATE TRIGGER attachments_gone AFTER DELETE ON attachments FOR EACH ROW
      WHEN (OLD.token_family IS NOT NULL) EXECUTE FUNCTION count_stored_bytes()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TRIGGER attachments_gone ON attachments`);
    await runner.query(`DROP TRIGGER attachments_stored ON attachments`);
    await runner.query(`DROP FUNCTION count_stored_bytes()`);
    await runner.query(`DROP TABLE token_storage`);
    await runner.query(`ALTER TABLE attachments DROP COLUMN token_family`);
  }
}
