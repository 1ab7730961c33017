import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { citingFiles, textOf } from './specification-citations.js';

const ROOT = join(__dirname, '../..');

/** The anchors of a page, as forges and editors generate them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const anchors = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(anchors);
}

function brokenLinks(file: string): readonly string[] {
  const text = textOf(file)
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    const page = path === '' ? join(ROOT, file) : join(ROOT, dirname(file), path);
    if (!existsSync(page)) return [`${file}: ${target}`];
    return anchor === undefined || anchorsOf(page).has(anchor) ? [] : [`${file}: ${target}`];
  });
}

test('every link between pages leads to a page and a heading', () => {
  const written = citingFiles().filter((path) => path.endsWith('.md'));
  expect(written.length).toBeGreaterThan(80);
  expect(written.flatMap(brokenLinks)).toEqual([]);
});
