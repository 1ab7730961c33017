import 'reflect-metadata';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMetadataArgsStorage } from 'typeorm';
import { tables } from '../../src/tables.js';

const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => readFileSync(join('src', file), 'utf8'));

/** Why only the drift check reads an entity. */
const FOR_THE_DRIFT_CHECK: Readonly<Record<string, readonly string[]>> = {
  'triggers keep it': ['MemoryUserEntity', 'MemoryWordEntity'],
  'only sums of it are read': ['BudgetSpendingEntity'],
};

const isUsed = (name: string): boolean => {
  const use = new RegExp(`\\b(columnsOf|InjectRepository|getRepository)\\(\\s*${name}\\b`);
  return SOURCES.some((text) => use.test(text));
};

test('every entity gives a statement its columns or has a repository', () => {
  const names = tables.map(({ name }) => name);
  const excused = Object.values(FOR_THE_DRIFT_CHECK).flat();
  expect(excused.filter((name) => !names.includes(name) || isUsed(name))).toEqual([]);
  expect(names.filter((name) => !isUsed(name) && !excused.includes(name))).toEqual([]);
});

/** The JavaScript type that the driver returns for a column type. */
const DRIVER: Readonly<Record<string, unknown>> = {
  ...{ text: String, bigint: String, numeric: String, uuid: String },
  ...{ integer: Number, smallint: Number, 'double precision': Number },
  ...{ boolean: Boolean, timestamptz: Date, bytea: Buffer },
};

test('the properties of entities have the types that the driver gives', () => {
  const compared: string[] = [];
  const others: string[] = [];
  for (const { target, propertyName, options } of getMetadataArgsStorage().columns) {
    if (typeof target === 'string' || options.array === true) continue;
    const declared: unknown = Reflect.getMetadata('design:type', target.prototype as object, propertyName);
    const given = DRIVER[String(options.type)];
    // For a union such as `string | null` TypeScript emits only `Object`.
    if (given === undefined || declared === undefined || declared === Object) continue;
    compared.push(propertyName);
    if (declared !== given) others.push(`${target.name}.${propertyName}`);
  }
  expect(compared.length).toBeGreaterThan(200);
  expect(others).toEqual([]);
});
