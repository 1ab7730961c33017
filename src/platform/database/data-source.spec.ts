import type { DataSource } from 'typeorm';
import { namesStatements } from './data-source.js';

test.each([
  [{ extra: { namesStatements: false } }, false],
  [{ extra: { namesStatements: true } }, true],
  [{ extra: {} }, true],
  [{ extra: null }, true],
  [{}, true],
])('statements have names unless %j says no', (options, named) => {
  expect(namesStatements({ options } as unknown as DataSource)).toBe(named);
});
