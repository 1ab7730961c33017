import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { emitSql } from './emit.sql.js';
import { EVENT_NAMES, isSubscribable } from './event-catalogue.js';

const page = readFileSync(join(__dirname, '../../../docs/webhooks.md'), 'utf8');

test.each(EVENT_NAMES)('docs/webhooks.md shows the payload of %s', (name) => {
  const section = page.split(/^### /m).find((text) => text.startsWith(`${name}\n`)) ?? '';
  const example = /```json\n(.*?)\n```/s.exec(section)?.[1] ?? '';
  expect(Object.keys(JSON.parse(example) as object).length).toBeGreaterThan(0);
});

test('the page shows no event that does not exist', () => {
  const titles = [...page.matchAll(/^### (\S+\.\S+)$/gm)].map(([, title = '']) => title);
  expect(titles.sort()).toEqual([...EVENT_NAMES, 'hook.ping'].sort());
});

test('everything and each area can be subscribed to, and nothing else', () => {
  const areas = [
    'session',
    'message',
    'tool',
    'error',
    'channel',
    'mcp',
    'plugin',
    'budget',
    'config',
    'audit',
  ];
  for (const name of [...EVENT_NAMES, '*', ...areas.map((area) => `${area}.*`)]) {
    expect([name, isSubscribable(name)]).toEqual([name, true]);
  }
  for (const name of ['hook.ping', 'session', 'session.', '*.*', 's*', '', 'toString', 'Session.created']) {
    expect(isSubscribable(name)).toBe(false);
  }
});

test('an event is one call in SQL, which leaves absent fields out', () => {
  const sql = emitSql('plugin.loaded', 'NULL', { name: '$1', version: `'1'` });
  expect(sql).toBe(
    `emit_event('plugin.loaded', NULL, json_strip_nulls(json_build_object('name', $1, 'version', '1')))`,
  );
});
