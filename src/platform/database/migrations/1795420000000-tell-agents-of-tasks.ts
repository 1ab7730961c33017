import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Push notifications of A2A: webhooks that get the events of a single turn, delivered like all others. Such a webhook
 * is found by the message of the turn, whose id is known before the turn exists, so that it gets even the first event.
 */
export class TellAgentsOfTasks1795420000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE hooks ADD COLUMN message_id text COLLATE "C", ADD COLUMN config_id text COLLATE "C"',
    );
    await runner.query(
      'CREATE UNIQUE INDEX hooks_of_tasks ON hooks (message_id, config_id) WHERE message_id IS NOT NULL',
    );
    await runner.query('CREATE INDEX hooks_of_events ON hooks (id) WHERE active AND message_id IS NULL');
    await this.replaceEmitEvent(runner, 'active AND message_id IS NULL');
    await this.createTellOfTask(runner);
    await this.watchTurns(runner);
  }

  /** Leaves out push notifications, of which many exist at once: events go to the other webhooks, which are few. */
  private async replaceEmitEvent(runner: QueryRunner, told: string): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE FUNCTION emit_event(event_name text, event_user text, event_data json) RETURNS integer
      LANGUAGE plpgsql VOLATILE AS $$
      DECLARE
        new_id text;
        told integer;
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM hooks WHERE ${told}) THEN
          RETURN 0;
        END IF;
        new_id := new_event_id();
        INSERT INTO hook_deliveries (hook_id, event_id, event)
        SELECT id, new_id, wanted
        FROM (
          SELECT id, CASE
            WHEN events && CASE WHEN event_name LIKE 'audit.%' THEN ARRAY[event_name, 'audit.*']
              ELSE ARRAY[event_name, split_part(event_name, '.', 1) || '.*', '*'] END THEN event_name
            WHEN event_name = 'session.terminated' AND 'session.completed' = ANY (events) THEN 'session.completed'
          END AS wanted
          FROM hooks WHERE ${told} AND (user_id IS NULL OR user_id = event_user)
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

  /** @returns the number of deliveries. A turn without such webhooks costs one look into a small index. */
  private async createTellOfTask(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION tell_of_task(asked text, only_hook text, told_session text, told_turn text, told_status text)
      RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
      DECLARE
        new_id text;
        told integer;
      BEGIN
        IF NOT EXISTS (SELECT 1 FROM hooks WHERE message_id = asked AND active) THEN
          RETURN 0;
        END IF;
        new_id := new_event_id();
        INSERT INTO hook_deliveries (hook_id, event_id, event)
        SELECT id, new_id, 'a2a.task' FROM hooks
        WHERE message_id = asked AND active AND (only_hook IS NULL OR id = only_hook);
        GET DIAGNOSTICS told = ROW_COUNT;
        IF told > 0 THEN
          INSERT INTO events (id, name, occurred_at, data)
          VALUES (new_id, 'a2a.task', clock_timestamp(),
            json_build_object('session_id', told_session, 'turn_id', told_turn, 'status', told_status));
        END IF;
        RETURN told;
      END $$`);
  }

  /** In the transaction of the change, whichever statement makes it. Waiting for a person is not a state of A2A. */
  private async watchTurns(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION turn_moved() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM tell_of_task(NEW.user_message_id, NULL, NEW.session_id, NEW.id, NEW.status);
        RETURN NULL;
      END $$`);
    await runner.query(
      'CREATE TRIGGER turns_begun AFTER INSERT ON turns FOR EACH ROW EXECUTE FUNCTION turn_moved()',
    );
    await runner.query(`
      CREATE TRIGGER turns_moved AFTER UPDATE OF status ON turns FOR EACH ROW
      WHEN (OLD.status IS DISTINCT FROM NEW.status AND NEW.status <> 'awaiting_approval'
        AND NOT (OLD.status = 'awaiting_approval' AND NEW.status = 'running'))
      EXECUTE FUNCTION turn_moved()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER turns_moved ON turns');
    await runner.query('DROP TRIGGER turns_begun ON turns');
    await runner.query('DROP FUNCTION turn_moved()');
    await runner.query('DROP FUNCTION tell_of_task(text, text, text, text, text)');
    await runner.query('DELETE FROM hooks WHERE message_id IS NOT NULL');
    await this.replaceEmitEvent(runner, 'active');
    await runner.query('DROP INDEX hooks_of_events');
    await runner.query('DROP INDEX hooks_of_tasks');
    await runner.query('ALTER TABLE hooks DROP COLUMN config_id, DROP COLUMN message_id');
  }
}
