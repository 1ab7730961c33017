import { basename } from 'node:path';
import { Client } from 'pg';
import type { SqlShape } from '../../src/platform/database/sql-types.js';
import { allStatements } from '../../src/platform/database/statement.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { describeStatement } from './described-statement.js';
import { loadStatements, SOURCES } from './load-statements.js';

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

test('every declared statement is used', () => {
  const declared = SOURCES.flatMap(({ file, text }) =>
    [...text.matchAll(/^(?:export )?const ([A-Z]\w*) = (?:statement(?:sBy)?|dueQuestion)\(/gm)].map(
      ([, name]) => ({
        file,
        name: name!,
      }),
    ),
  );
  expect(declared.length).toBeGreaterThan(250);
  expect(declared.filter(({ file, name }) => !isUsed(name, file))).toEqual([]);
  expect(isUsed('LIST', 'areas/privacy/plan.sql.ts')).toBe(false);
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

/**
 * Used in its own file, outside its declaration and imports, or in a file that imports that one: many files have a
 * `LIST`.
 */
function isUsed(name: string, file: string): boolean {
  const use = new RegExp(`(?<!const )\\b${name}\\b`);
  const module = `/${basename(file, '.ts')}.js'`;
  return SOURCES.filter((source) => source.file === file || source.text.includes(module)).some(({ text }) =>
    use.test(
      text
        .replace(/^import [^;]*;/gms, '')
        .replace(/\/\*\*.*?\*\//gs, '')
        .replace(/\/\/.*$/gm, ''),
    ),
  );
}
