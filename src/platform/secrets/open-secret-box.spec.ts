import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSecretBox } from './open-secret-box.js';

let dataDir: string;
beforeEach(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), 'agw-key-')), 'data');
});
afterEach(() => rm(join(dataDir, '..'), { recursive: true }));

const open = (source: { masterKey?: string; embedded?: boolean; production?: boolean } = {}) =>
  openSecretBox({ masterKey: undefined, dataDir, embedded: true, production: false, ...source });

test('makes a key file that only its owner may read, and keeps it', async () => {
  const first = await open();
  const { mode } = await stat(join(dataDir, 'master.key'));
  expect(mode & 0o777).toBe(0o600);
  expect((await readFile(join(dataDir, 'master.key'), 'utf8')).trim()).toBe(first.keyText);
  const second = await open();
  expect(second.box.open(first.box.seal('hush', 'c'), 'c')).toBe('hush');
});

test('of many that start at once, all get one key and leave one file', async () => {
  const keys = await Promise.all(Array.from({ length: 12 }, async () => (await open()).keyText));
  expect(new Set(keys).size).toBe(1);
  expect(await readdir(dataDir)).toEqual(['master.key']);
});

test('refuses a key file that others may read, and says how to repair that', async () => {
  await open();
  await chmod(join(dataDir, 'master.key'), 0o644);
  await expect(open()).rejects.toThrow('chmod 600');
});

test('the variable wins over the file and creates none', async () => {
  const masterKey = 'a key that only this test may use';
  expect((await open({ masterKey, production: true, embedded: false })).keyText).toBe(masterKey);
  await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
});

test('refuses a short key without showing it', async () => {
  const refusal = await open({ masterKey: 'canary-short' }).catch(String);
  expect(refusal).toContain('shorter than 32');
  expect(refusal).not.toContain('canary');
});

test.each([
  ['zeros in base64', Buffer.alloc(32).toString('base64')],
  ['ones in base64url', Buffer.alloc(32, 0xff).toString('base64url')],
  ['zeros in hex', '0'.repeat(64)],
  ['one letter', 'k'.repeat(40)],
])('refuses a key that is one byte repeated: %s', async (_name, masterKey) => {
  await expect(open({ masterKey })).rejects.toThrow('one byte over and over');
});

test('production with a database of your own needs the variable', async () => {
  await expect(open({ production: true, embedded: false })).rejects.toThrow('GATEWAY_MASTER_KEY is not set');
  await expect(open({ production: true, embedded: true })).resolves.toBeDefined();
  await expect(open({ production: false, embedded: false })).resolves.toBeDefined();
});
