import { integer, optional, text } from './sql-types.js';
import { filtersGiven, statement, statementsBy, valuesGiven } from './statement.js';

describe('a statement', () => {
  test('numbers its parameters in the order of their first use, and takes their values in that order', () => {
    const found = statement({
      name: 'spec.numbered',
      params: { first: text, second: integer },
      row: { a: text },
      sql: 'SELECT :second::int + 1, :first AS a WHERE :second > 0',
    });
    expect(found.text).toBe('SELECT $1::int + 1, $2 AS a WHERE $1 > 0');
    expect(valuesGiven(found, { first: 'x', second: 2 })).toEqual([2, 'x']);
  });

  test.each([
    ['a text', "SELECT ':no', 'it''s :no'"],
    ['a quoted name', 'SELECT 1 AS ":no"'],
    ['a comment', 'SELECT 1 -- :no'],
    ['a cast', 'SELECT 1::text, now()::date'],
  ])('has no parameter in %s', (what, sql) => {
    expect(statement({ name: `spec.none in ${what}`, params: {}, row: {}, sql })).toMatchObject({
      text: sql,
      order: [],
    });
  });

  test('is refused when a parameter is written but not declared, or the reverse', () => {
    const params = { id: text };
    expect(() => statement({ name: 'spec.a', params, row: {}, sql: 'SELECT :id, :other' })).toThrow(
      'spec.a does not declare its parameter :other',
    );
    expect(() => statement({ name: 'spec.b', params, row: {}, sql: 'SELECT 1' })).toThrow(
      'spec.b has no parameter :id',
    );
  });

  test('has a name that no other statement has', () => {
    statement({ name: 'spec.once', params: {}, row: {}, sql: 'SELECT 1' });
    expect(() => statement({ name: 'spec.once', params: {}, row: {}, sql: 'SELECT 2' })).toThrow(
      'two statements are called spec.once',
    );
  });
});

describe('statements by their filters', () => {
  let builds = 0;
  const lists = statementsBy(['user', 'agent'], (given) => {
    builds += 1;
    const conditions = [...given].map((name) => `${name} = :${name}`);
    return {
      name: ['spec.list', ...given].join('.'),
      params: { most: integer, user: optional(text), agent: optional(text) },
      row: {},
      sql: `SELECT 1 WHERE ${['true', ...conditions].join(' AND ')} LIMIT :most`,
    };
  });

  test('are made once for each set of filters, in whatever order they are given', () => {
    const both = lists(['agent', 'user']);
    expect(both.text).toBe('SELECT 1 WHERE true AND user = $1 AND agent = $2 LIMIT $3');
    expect(lists(new Set(['user', 'agent'] as const))).toBe(both);
    expect([both.name, builds]).toEqual(['spec.list.user.agent', 1]);
  });

  test('leave out the values of filters that are not given', () => {
    const values = { user: undefined, agent: 'a' };
    const found = lists(filtersGiven(values));
    expect([found.name, valuesGiven(found, { most: 3, ...values })]).toEqual(['spec.list.agent', ['a', 3]]);
  });
});
