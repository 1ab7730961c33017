import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServerLog } from './server-process.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agf-'));
  path = join(folder, 'postgres.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a log of more than 1 MiB is started again, and one older copy is kept', async () => {
  const log = new ServerLog(path);
  writeFileSync(path, 'x'.repeat(1 << 20));
  await log.trim();
  expect(await log.size()).toBe(1 << 20);
  writeFileSync(path, 'y'.repeat((1 << 20) + 1));
  await log.trim();
  expect([await log.size(), readFileSync(`${path}.1`, 'utf8').length]).toEqual([0, (1 << 20) + 1]);
});

test('a missing log reads as empty', async () => {
  const log = new ServerLog(path);
  expect([await log.size(), await log.linesSince(0)]).toEqual([0, '']);
  writeFileSync(path, 'before\nafter\n');
  expect(await log.linesSince('before\n'.length)).toBe('after');
});
