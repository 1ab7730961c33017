import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { citingFiles, textOf } from './specification-citations.js';

const ROOT = join(__dirname, '../..');
/** A path of this repository, as pages and comments write it. */
const PATH = /(?<![\w./-])(?:src|test|bench|scripts)\/[\w.*/-]*[\w*/]/g;

/** Every path in a text that does not exist. `*` stands for any part of a name. */
function missing(text: string): readonly string[] {
  return [...text.matchAll(PATH)].map(([path]) => path).filter((path) => !isThere(path.replace(/[.]$/, '')));
}

function isThere(path: string): boolean {
  if (path.includes('**')) return isThere(path.slice(0, path.indexOf('**')));
  const slash = path.lastIndexOf('/');
  const parent = path.slice(0, slash);
  const name = path.slice(slash + 1);
  // Jest accepts the beginning of a path: `npx jest test/faults/rolling`.
  if (parent.startsWith('test/') && !/[.*]/.test(name)) return isThere(`${path}*`);
  if (!name.includes('*'))
    return ['', '.ts', '.spec.ts'].some((ending) => existsSync(join(ROOT, path + ending)));
  const pattern = new RegExp(`^${name.replaceAll('.', '[.]').replaceAll('*', '.*')}$`);
  return existsSync(join(ROOT, parent)) && readdirSync(join(ROOT, parent)).some((one) => pattern.test(one));
}

test('a path that does not exist is found', () => {
  expect(missing('`src/nowhere/a.ts` and `src/start-gateway.ts`, src/areas/hooks/*.entity.ts')).toEqual([
    'src/nowhere/a.ts',
  ]);
});

test.each(citingFiles().filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md'))(
  'every path that %s names exists',
  (page) => {
    expect(missing(textOf(page))).toEqual([]);
  },
);

test('docs/testing.md calls every spec by its folder and name', () => {
  const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
  const kinds = readdirSync(join(ROOT, 'test')).join('|');
  const named = [...page.matchAll(new RegExp(`\`((?:${kinds})/[a-z0-9-]+)\``, 'g'))].map(
    ([, one = '']) => one,
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((one) => !isThere(`test/${one}`))).toEqual([]);
});

test('ARCHITECTURE.md names every area, and no other', () => {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const named = [...page.matchAll(/^\| ([a-z0-9-]+) \| .*`src\/areas\/([a-z0-9-]+)\//gm)].map(
    ([, name]) => name,
  );
  expect(named.toSorted()).toEqual(readdirSync(join(ROOT, 'src/areas')).toSorted());
});
