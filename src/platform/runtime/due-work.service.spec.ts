import type { Database } from '../database/database.js';
import type { SqlValue, Statement } from '../database/sql.js';
import { silentLogs } from '../logging/logger.js';
import { type DueCheck, DueWork } from './due-work.service.js';

let sent: { statement: Statement; values: readonly SqlValue[] }[];
let answer: () => Promise<Record<string, unknown>[]>;
let due: DueWork;
beforeEach(() => {
  sent = [];
  answer = () => Promise.resolve([{}]);
  const query = (statement: Statement, values: readonly SqlValue[]) => {
    sent.push({ statement, values });
    return answer();
  };
  due = new DueWork({ query } as unknown as Database, silentLogs);
});
afterEach(() => due.onModuleDestroy());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function question(name: string, options: Partial<DueCheck> = {}): { question: DueCheck; told: unknown[] } {
  const told: unknown[] = [];
  const tell = (given: unknown): void => void told.push(given);
  return { question: { name, everyMs: 1000, sql: `any_${name}`, onAnswer: tell, ...options }, told };
}

test('all questions go to the database in one statement, each with its own values', async () => {
  const one = question('one', { sql: 'f($1::int8, $2)', values: () => [1, 2] });
  const two = question('two', { sql: 'g($1)', values: () => [3] });
  answer = () => Promise.resolve([{ one: true, two: false }]);
  due.watch(one.question);
  due.watch(two.question);
  due.onApplicationBootstrap();
  await pause(20);
  expect(sent).toHaveLength(1);
  expect(sent[0]?.statement.text).toBe('SELECT f($1::int8, $2) AS one,\n  g($3) AS two');
  expect(sent[0]?.values).toEqual([1, 2, 3]);
  expect([one.told, two.told]).toEqual([[true], [false]]);
});

test('a look asks only what would come too late with the next one', async () => {
  due.watch(question('often', { everyMs: 400 }).question);
  due.watch(question('seldom', { everyMs: 10_000 }).question);
  due.onApplicationBootstrap();
  await pause(600);
  expect(sent.map(({ statement }) => statement.text)).toEqual([
    'SELECT any_often AS often,\n  any_seldom AS seldom',
    'SELECT any_often AS often',
  ]);
  expect(sent.map(({ statement }) => statement.name)).toEqual(['due_work.1', 'due_work.2']);
});

test('when the database cannot be asked everybody is told that nobody knows, and the next look asks again', async () => {
  const one = question('one', { everyMs: 400 });
  due.watch(one.question);
  answer = () => Promise.reject(new Error('away'));
  due.onApplicationBootstrap();
  await pause(20);
  expect(one.told).toEqual([undefined]);
  answer = () => Promise.resolve([{ one: true }]);
  await pause(600);
  expect(one.told).toEqual([undefined, true]);
});

test('after a stop nobody is told anything', async () => {
  const one = question('one');
  due.watch(one.question);
  let answered: (rows: Record<string, unknown>[]) => void = () => undefined;
  answer = () => new Promise((resolve) => (answered = resolve));
  due.onApplicationBootstrap();
  const stopped = due.onModuleDestroy();
  answered([{ one: true }]);
  await stopped;
  expect(one.told).toEqual([]);
});
