import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

interface Mutation {
  readonly what: string;
  readonly file: string;
  readonly from: string;
}

const MUTATIONS = JSON.parse(readFileSync(join(ROOT, 'test/mutations.json'), 'utf8')) as readonly Mutation[];

/** Otherwise `npm run test:mutations` has nothing to break there, and nobody learns of it until it is run. */
test('every line that test/mutations.json breaks is there, once', () => {
  const times = MUTATIONS.map(({ what, file, from }): [string, number] => [
    what,
    readFileSync(join(ROOT, file), 'utf8').split(from).length - 1,
  ]);
  expect(times.filter(([, count]) => count !== 1)).toEqual([]);
});
