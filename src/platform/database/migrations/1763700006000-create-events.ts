import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Events for the hooks that subscribed to them, and the function that every change calls to emit one. */
export class CreateEvents1763700006000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE events (
        id          text COLLATE "C" PRIMARY KEY,
        name        text NOT NULL,
        occurred_at timestamptz(3) NOT NULL,
        data        json NOT NULL
      )`);
    await this.createEventId(runner);
    await this.createEmitEvent(runner);
  }

  /** The ids of `src/common/ids/typeid.ts`: a UUIDv7 as 26 characters of Crockford base32. */
  private async createEventId(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION new_event_id() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
      DECLARE
        random_hex text := replace(gen_random_uuid()::text, '-', '');
        time_hex text := lpad(to_hex(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0');
        bits bit(130) := B'00' || ('x' || time_hex || '7' || substr(random_hex, 14))::bit(128);
        body text := '';
      BEGIN
        FOR i IN 0..25 LOOP
          body := body || substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM i * 5 + 1 FOR 5)::int + 1, 1);
        END LOOP;
        RETURN 'evt_' || body;
      END $$`);
  }

  /**
   * Called within the statement that makes the change, so that both commit or neither. When no hook subscribed to the
   * event, it only reads one tiny table. It takes no lock: the order of a hook's events is decided when they are sent.
   * The end of a session is one event with two names; a hook gets it under the name that it subscribed to. Returns the
   * number of deliveries.
   */
  private async createEmitEvent(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION emit_event(event_name text, event_user text, event_data json) RETURNS integer
      LANGUAGE plpgsql VOLATILE AS $$
      DECLARE
        new_id text;
        told integer;
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM hooks WHERE active) THEN
          RETURN 0;
        END IF;
        new_id := new_event_id();
        INSERT INTO hook_deliveries (hook_id, event_id, event)
        SELECT id, new_id, wanted
        FROM (
          SELECT id, CASE
            WHEN events && ARRAY[event_name, split_part(event_name, '.', 1) || '.*', '*'] THEN event_name
            WHEN event_name = 'session.terminated' AND 'session.completed' = ANY (events) THEN 'session.completed'
          END AS wanted
          FROM hooks WHERE active AND (user_id IS NULL OR user_id = event_user)
        ) AS subscribed
        WHERE wanted IS NOT NULL;
        GET DIAGNOSTICS told = ROW_COUNT;
        IF told > 0 THEN
          INSERT INTO events (id, name, occurred_at, data)
          VALUES (new_id, event_name, clock_timestamp(), event_data);
        END IF;
        RETURN told;
      END $$`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION emit_event(text, text, json)`);
    await runner.query(`DROP FUNCTION new_event_id()`);
    await runner.query(`DROP TABLE events`);
  }
}
