import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADVISORY_LOCKS } from './advisory-locks.js';

const source = join(__dirname, '../..');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.includes('migrations'),
);

test('no two purposes share a number, because one would wait for the other', () => {
  const numbers = Object.values(ADVISORY_LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('no other file has a number of its own', () => {
  const own = files.filter((file) =>
    /7_?193_?016_?8|advisory_(xact_)?lock\(\d/.test(readFileSync(join(source, file), 'utf8')),
  );
  expect(own).toEqual([join('platform', 'database', 'advisory-locks.ts')]);
});
