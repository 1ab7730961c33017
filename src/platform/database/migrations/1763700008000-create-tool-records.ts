import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the tools of servers looked like when they were approved, calls that wait for a person, and the audit log. */
export class CreateToolRecords1763700008000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp_tools (
        server              text COLLATE "C" NOT NULL,
        tool                text COLLATE "C" NOT NULL,
        fingerprint         text NOT NULL,
        definition          jsonb NOT NULL,
        pending_fingerprint text,
        pending_definition  jsonb,
        first_seen_at       timestamptz(3) NOT NULL DEFAULT now(),
        changed_at          timestamptz(3),
        PRIMARY KEY (server, tool)
      )`);
    await runner.query(`
      CREATE TABLE tool_approvals (
        id         text COLLATE "C" PRIMARY KEY,
        call_id    text NOT NULL,
        tool       text NOT NULL,
        arguments  jsonb NOT NULL,
        session_id text COLLATE "C" NOT NULL,
        channel    text NOT NULL,
        user_id    text NOT NULL,
        verdict    text,
        asked_at   timestamptz(3) NOT NULL DEFAULT now(),
        expires_at timestamptz(3) NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE audit_entries (
        id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        happened_at timestamptz(3) NOT NULL DEFAULT now(),
        action      text NOT NULL,
        actor       text NOT NULL,
        target      text NOT NULL,
        outcome     text NOT NULL,
        session_id  text COLLATE "C",
        details     jsonb NOT NULL
      )`);
    await runner.query('CREATE INDEX audit_entries_happened ON audit_entries (happened_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE audit_entries');
    await runner.query('DROP TABLE tool_approvals');
    await runner.query('DROP TABLE mcp_tools');
  }
}
