import { Client } from 'pg';
import type { SqlShape } from '../../src/platform/database/sql-types.js';
import { allStatements } from '../../src/platform/database/statement.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { declaredStatements } from './declared-statements.js';
import { describeStatement } from './described-statement.js';
import { DECLARED, EXAMPLES, loadStatements } from './load-statements.js';

let database: TestDatabase;
let client: Client;

beforeAll(async () => {
  await loadStatements();
  database = await createTestDatabase();
  client = new Client({ connectionString: database.directUrl });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

test('PostgreSQL agrees with the declared parameters and columns of every statement', async () => {
  const disagreements: string[] = [];
  for (const statement of allStatements()) {
    const described = await describeStatement(client, statement.text);
    const declared = {
      params: statement.order.map((name) => `${name} ${statement.params[name]!.name}`),
      columns: namesAndTypes(statement.row),
    };
    const found = {
      params: described.params.map((type, at) => `${statement.order[at]} ${type}`),
      columns: described.columns
        .filter(({ type }) => type !== 'void')
        .map(({ name, type }) => `${name} ${type}`),
    };
    const problem = differenceOf(declared, { ...found, columns: found.columns.sort() });
    if (problem !== undefined) disagreements.push(`${statement.name}: ${problem}`);
  }
  expect(allStatements().length).toBeGreaterThan(500);
  expect(disagreements).toEqual([]);
});

test('every declared statement is used, also those that functions build', () => {
  expect(DECLARED.files.length).toBeGreaterThan(80);
  expect(DECLARED.unused).toEqual([]);
});

test('what builds statements on demand has examples', () => {
  expect(DECLARED.onDemand).toEqual(Object.keys(EXAMPLES));
});

test('statements that nobody runs and builders that nobody calls are noticed', () => {
  const text = `import { statement } from '../platform/database/statement.js';
    const LIST = statement({});
    const removal = (name: string) => statement({});
    function rowsOf(table: string) {
      return { count: statement({}), page: statement({}), places: statement({}) };
    }
    export const TABLES = { rows: rowsOf('a'), gone: removal('a') };
    function onDemand() {
      return removal('b');
    }`;
  const user = `import { TABLES } from './made-up.sql.js';
    export class User {
      run = () => this.page(TABLES.rows.count);
      private page({ places }: Places) { return onDemand(); }
    }`;
  const sources = [
    { file: 'made-up.sql.ts', text },
    { file: 'user.ts', text: user },
    { file: 'other.ts', text: 'const found = [LIST, rows.page, TABLES.gone];' },
  ];
  expect(declaredStatements(sources)).toEqual({
    files: ['made-up.sql.ts'],
    unused: ['made-up.sql.ts: LIST', 'made-up.sql.ts: rowsOf.page', 'made-up.sql.ts: TABLES.gone'],
    onDemand: ['statementsBy', 'onDemand'],
  });
});

test('a parameter of another type, a missing column and an extra column are noticed', () => {
  const found = { params: ['id text'], columns: ['a integer', 'b text'] };
  expect(differenceOf(found, found)).toBeUndefined();
  expect(differenceOf({ ...found, params: ['id integer'] }, found)).toMatch('id text');
  expect(differenceOf({ ...found, columns: ['a integer'] }, found)).toMatch('b text');
  expect(differenceOf({ ...found, columns: [...found.columns, 'c text'] }, found)).toMatch('c text');
});

interface Described {
  readonly params: readonly string[];
  readonly columns: readonly string[];
}

function differenceOf(declared: Described, found: Described): string | undefined {
  const told = (described: Described) => JSON.stringify(described);
  return told(declared) === told(found)
    ? undefined
    : `declares ${told(declared)}, PostgreSQL says ${told(found)}`;
}

function namesAndTypes(shape: SqlShape): readonly string[] {
  return Object.entries(shape)
    .map(([name, { name: type }]) => `${name} ${type}`)
    .sort();
}
