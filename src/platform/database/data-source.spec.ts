import { createDataSource } from './data-source.js';

const LIMITS = { size: 1, connectTimeoutMs: 1000, statementTimeoutMs: 0, onIdleError: () => undefined };

test.each([
  [{}, true],
  [{ sharesSessions: true }, false],
  [{ sharesSessions: true, namesStatements: true }, true],
  [{ namesStatements: false }, false],
])('with %j, whether statements have names is %s', (limits, named) => {
  const dataSource = createDataSource({ url: 'postgres://127.0.0.1/any' }, { ...LIMITS, ...limits });
  expect(dataSource.namesStatements).toBe(named);
});

test('there is no pool before the first connection', () => {
  const dataSource = createDataSource({ url: 'postgres://127.0.0.1/any' }, LIMITS);
  expect(() => dataSource.pool).toThrow('The DataSource is not initialized.');
});
