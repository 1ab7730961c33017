import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '../../docs/decisions');
const MAX_LINES = 60;
const records = readdirSync(FOLDER).filter((name) => name !== 'README.md');
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

describe.each(records)('%s', (name) => {
  const text = read(name);
  const [, number = '', title = ''] = /^# (\d{4}) (.+)\n/.exec(text) ?? [];

  test('is named by its decision', () => {
    const words =
      title
        .toLowerCase()
        .replaceAll(/['’]/g, '')
        .match(/[a-z0-9]+/g) ?? [];
    expect(name).toBe(`${number}-${words.join('-')}.md`);
  });

  test(`has a status, a context, a decision and consequences, in at most ${MAX_LINES} lines`, () => {
    const status = /^Status: accepted(?:; superseded in part by .+)?\.|^Status: superseded by .+\./m;
    expect(text).toMatch(status);
    const headings = text.match(/^## .+$/gm);
    expect(headings).toEqual(['## Context', '## Decision', '## Consequences']);
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(MAX_LINES);
  });

  test('is in the index under its title', () => {
    expect(read('README.md')).toContain(`- [${number}](${name}) ${title}`);
  });

  test('a record that supersedes it exists, and is named where it applies', () => {
    const [, named = ''] = /^Status: .*superseded (?:in part )?by ([\s\S]*?)\.\n\n/m.exec(text) ?? [];
    for (const [, later = ''] of named.matchAll(/\]\(([^)]+)\)/g)) {
      expect(records).toContain(later);
      expect(text.split(`](${later})`).length).toBeGreaterThan(text.includes('superseded in part') ? 2 : 1);
    }
  });
});

test('every number is one record', () => {
  const numbers = records.map((name) => name.slice(0, 4));
  expect(new Set(numbers).size).toBe(records.length);
});
