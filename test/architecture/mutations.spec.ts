import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

interface Mutation {
  readonly what: string;
  readonly file: string;
  readonly from: string;
  /** Beginnings of the paths of the specs that must notice it. */
  readonly specs: readonly string[];
}

const MUTATIONS = JSON.parse(readFileSync(join(ROOT, 'test/mutations.json'), 'utf8')) as readonly Mutation[];

/** Otherwise `npm run test:mutations` has nothing to break, and nobody notices until it runs. */
test('every line that test/mutations.json breaks exists, once', () => {
  const times = MUTATIONS.map(({ what, file, from }): [string, number] => [
    what,
    readFileSync(join(ROOT, file), 'utf8').split(from).length - 1,
  ]);
  expect(times.filter(([, count]) => count !== 1)).toEqual([]);
});

test('the tests that have to notice it exist', () => {
  const specs = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.spec.ts'))
      .map((file) => `${folder}/${file}`),
  );
  const named = MUTATIONS.flatMap(({ specs }) => specs);
  expect(named.filter((path) => !specs.some((spec) => spec.startsWith(path)))).toEqual([]);
});
