import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS } from './client-conformance.js';
import { clientsPage, rowsWithoutTest } from './clients-page.js';

const ROOT = join(__dirname, '../..');
const PAGE = join(ROOT, 'docs/conformance-clients.md');

test('every feature of a client is shown by an existing test', () => {
  expect(rowsWithoutTest(ROOT)).toEqual([]);
});

test('no client has a feature twice', () => {
  for (const { client, shown } of CLIENTS) {
    const features = shown.map(({ feature }) => feature);
    expect([client, features]).toEqual([client, [...new Set(features)]]);
  }
});

test('docs/conformance-clients.md is what npm run generate:conformance writes', () => {
  const page = clientsPage();
  if (process.env['UPDATE_CONFORMANCE'] !== undefined) writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
