import { ERASURE_PLAN, namedColumns } from '../../src/areas/privacy/erasure-plan.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Types that can hold what a person wrote, or a person's name. */
const TEXTUAL = `('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY', 'tsvector', 'xml', 'USER-DEFINED')`;

test('a test fails when a table or column of text is not on the list of what erasure does', async () => {
  const columns = await database.query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type IN ${TEXTUAL} ORDER BY 1, ordinal_position`,
  );
  const missing = columns.filter(({ table, column }) => {
    const plan = ERASURE_PLAN[table];
    return plan === undefined || !namedColumns(plan).has(column);
  });
  expect(missing).toEqual([]);
});

test('tables of the list that hold persons name a column that tells whose a row is', async () => {
  const tables = await database.query<{ name: string }>(
    `SELECT DISTINCT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name IN ('user_id', 'sole_user', 'session_id', 'token_family', 'token_id')`,
  );
  const untouched = tables
    .map(({ name }) => name)
    .filter((name) => {
      const { mine, hashed } = ERASURE_PLAN[name] ?? {};
      return mine === undefined && hashed === undefined && name !== 'audit_entries';
    });
  expect(untouched).toEqual([]);
});
