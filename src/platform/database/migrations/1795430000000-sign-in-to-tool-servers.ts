import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What the gateway holds for each tool server to which an operator signs in with a browser. Texts named sealed are
 * sealed.
 */
export class SignInToToolServers1795430000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE mcp_sign_ins (
        server text COLLATE "C" PRIMARY KEY,
        bound_to text NOT NULL,
        changes integer NOT NULL DEFAULT 0,
        sealed_client text,
        state_hash text UNIQUE,
        sealed_flow text,
        flow_ends_at timestamptz(3),
        sealed_tokens text,
        tokens_version integer NOT NULL DEFAULT 0,
        expires_at timestamptz(3),
        refreshing_until timestamptz(3),
        problem text,
        wanted_scope text,
        signed_in_by text,
        signed_in_at timestamptz(3)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE mcp_sign_ins');
  }
}
