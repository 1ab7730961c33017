import type { Database } from '../database/database.js';
import type { AnyStatement } from '../database/sql.js';
import { bigint, boolean, integer } from '../database/sql-types.js';
import { valuesGiven } from '../database/statement.js';
import { silentLogs } from '../logging/logger.js';
import { dueQuestion } from './due-question.js';
import { DueWork } from './due-work.service.js';

let sent: { statement: AnyStatement; values: readonly unknown[] }[];
let answer: () => Promise<Record<string, unknown>[]>;
let due: DueWork;
beforeEach(() => {
  jest.useFakeTimers();
  sent = [];
  answer = () => Promise.resolve([{}]);
  const query = (statement: AnyStatement, params: object) => {
    sent.push({ statement, values: valuesGiven(statement, params) });
    return answer();
  };
  due = new DueWork({ query } as unknown as Database, silentLogs);
});
afterEach(async () => {
  await due.onModuleDestroy();
  jest.useRealTimers();
});

const later = (ms: number) => jest.advanceTimersByTimeAsync(ms);

function check(name: string, everyMs = 1000) {
  const told: unknown[] = [];
  const question = dueQuestion({ name, params: {}, answer: boolean, sql: `any_${name}` });
  return { check: { question, everyMs, onAnswer: (given: unknown) => void told.push(given) }, told };
}

test('all questions go to the database in one statement, each with its own parameters', async () => {
  const told: unknown[] = [];
  const onAnswer = (given: unknown): void => void told.push(given);
  const sql = 'f(:from::int8, :most)';
  due.watch({
    question: dueQuestion({ name: 'first', params: { from: bigint, most: integer }, answer: boolean, sql }),
    ...{ everyMs: 1000, params: () => ({ from: 1, most: 2 }), onAnswer },
  });
  due.watch({
    question: dueQuestion({ name: 'second', params: { least: integer }, answer: boolean, sql: 'g(:least)' }),
    ...{ everyMs: 1000, params: () => ({ least: 3 }), onAnswer },
  });
  answer = () => Promise.resolve([{ first: true, second: false }]);
  due.onApplicationBootstrap();
  await later(0);
  expect(sent).toHaveLength(1);
  expect(sent[0]?.statement.text).toBe('SELECT f($1::int8, $2) AS first,\n  g($3) AS second');
  expect(sent[0]?.values).toEqual([1, 2, 3]);
  expect(told).toEqual([true, false]);
});

test('no two questions have a parameter of the same name: one would be asked with the value of the other', () => {
  const asked = (name: string) => ({
    question: dueQuestion({ name, params: { secs: integer }, answer: boolean, sql: 'f(:secs)' }),
    ...{ everyMs: 1000, params: () => ({ secs: 1 }), onAnswer: () => undefined },
  });
  due.watch(asked('early'));
  expect(() => due.watch(asked('late'))).toThrow('late and early both have a parameter :secs');
});

test('a poll asks only questions that would be late at the next one', async () => {
  due.watch(check('often', 400).check);
  due.watch(check('seldom', 10_000).check);
  due.onApplicationBootstrap();
  await later(600);
  expect(sent.map(({ statement }) => statement.text)).toEqual([
    'SELECT any_often AS often,\n  any_seldom AS seldom',
    'SELECT any_often AS often',
  ]);
  expect(sent.map(({ statement }) => statement.name)).toEqual(['due_work.1', 'due_work.2']);
});

test('when the database cannot be asked, every listener learns that, and the next poll asks again', async () => {
  const one = check('one', 400);
  due.watch(one.check);
  answer = () => Promise.reject(new Error('away'));
  due.onApplicationBootstrap();
  await later(0);
  expect(one.told).toEqual([undefined]);
  answer = () => Promise.resolve([{ one: true }]);
  await later(600);
  expect(one.told).toEqual([undefined, true]);
});

test('after a stop no listener is called', async () => {
  const one = check('one');
  due.watch(one.check);
  let answered: (rows: Record<string, unknown>[]) => void = () => undefined;
  answer = () => new Promise((resolve) => (answered = resolve));
  due.onApplicationBootstrap();
  const stopped = due.onModuleDestroy();
  answered([{ one: true }]);
  await stopped;
  expect(one.told).toEqual([]);
});
