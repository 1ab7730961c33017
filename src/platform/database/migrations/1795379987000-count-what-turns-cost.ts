import type { MigrationInterface, QueryRunner } from 'typeorm';

const COUNTS = `
        turns               bigint NOT NULL,
        input_tokens        bigint NOT NULL,
        cached_input_tokens bigint NOT NULL,
        cache_write_tokens  bigint NOT NULL,
        output_tokens       bigint NOT NULL,
        reasoning_tokens    bigint NOT NULL,
        unpriced_tokens     bigint NOT NULL,
        cost_usd            numeric`;
const DIMENSIONS = `
        day                 date NOT NULL,
        agent               text NOT NULL,
        user_id             text NOT NULL,
        api_token           text NOT NULL,
        provider            text NOT NULL,
        model               text NOT NULL,
        channel             text NOT NULL,`;

/**
 * What turns used and cost. The statement that ends a turn only inserts into `usage_entries`, so that no turn waits for
 * another one's row; entries are summed up in the background. Usage outlives sessions, so nothing in it refers to them.
 */
export class CountWhatTurnsCost1795379987000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE turns
        ADD COLUMN cached_input_tokens bigint NOT NULL DEFAULT 0,
        ADD COLUMN cache_write_tokens bigint NOT NULL DEFAULT 0,
        ADD COLUMN reasoning_tokens bigint NOT NULL DEFAULT 0,
        ADD COLUMN unpriced_tokens bigint NOT NULL DEFAULT 0,
        ADD COLUMN cost_usd numeric`);
    await runner.query(`
      CREATE TABLE usage_entries (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT usage_entries_pkey PRIMARY KEY,${DIMENSIONS}${COUNTS}
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 10000)`);
    await runner.query(`
      CREATE TABLE usage_days (${DIMENSIONS}
        key                 uuid NOT NULL,${COUNTS},
        CONSTRAINT usage_days_pkey PRIMARY KEY (day, key)
      )`);
    await runner.query(`CREATE INDEX usage_days_by_user ON usage_days (user_id, day)`);
    await runner.query(`
      CREATE TABLE budget_spending (
        scope    text NOT NULL,
        name     text NOT NULL,
        day      date NOT NULL,
        cost_usd numeric NOT NULL,
        CONSTRAINT budget_spending_pkey PRIMARY KEY (scope, name, day)
      )`);
    await runner.query(`
      CREATE TABLE budget_notices (
        scope     text NOT NULL,
        name      text NOT NULL,
        period    text NOT NULL,
        starts_on date NOT NULL,
        limit_usd numeric NOT NULL,
        notice    text NOT NULL,
        CONSTRAINT budget_notices_pkey PRIMARY KEY (scope, name, period, starts_on, limit_usd, notice)
      )`);
    await runner.query(`
      CREATE FUNCTION budget_spent(of_scope text, of_name text, since date) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
      BEGIN
        RETURN coalesce((
            SELECT sum(cost_usd) FROM budget_spending WHERE scope = of_scope AND name = of_name AND day >= since), 0)
          + coalesce((
            SELECT sum(cost_usd) FROM usage_entries WHERE day >= since AND CASE of_scope
              WHEN 'all' THEN true WHEN 'users' THEN user_id = of_name WHEN 'agents' THEN agent = of_name
              ELSE api_token = of_name END), 0);
      END $$`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION budget_spent(text, text, date)`);
    for (const table of ['budget_notices', 'budget_spending', 'usage_days', 'usage_entries'])
      await runner.query(`DROP TABLE ${table}`);
    await runner.query(`
      ALTER TABLE turns DROP COLUMN cached_input_tokens, DROP COLUMN cache_write_tokens, DROP COLUMN reasoning_tokens,
        DROP COLUMN unpriced_tokens, DROP COLUMN cost_usd`);
  }
}
