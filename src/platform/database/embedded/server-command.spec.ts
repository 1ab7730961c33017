import fs from 'node:fs/promises';
import os from 'node:os';
import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import {
  identitiesForNewCluster,
  identityForCluster,
  isPermissionProblem,
  libcHint,
  namespaceHint,
  runServerCommand,
  serverCommand,
} from './server-command.js';

const namespace = expect.objectContaining({ name: 'a user namespace', owner: 0, credentials: {} }) as unknown;

/** As if this process belonged to somebody else. */
function runAs(uid: number): void {
  jest.spyOn(process, 'geteuid').mockReturnValue(uid);
}
afterEach(() => jest.restoreAllMocks());

describe('a new cluster', () => {
  test('is created by the user who runs the gateway, unless that is root', async () => {
    runAs(1000);
    await expect(identitiesForNewCluster()).resolves.toEqual([
      { name: 'this user', owner: 1000, credentials: {}, prefix: [] },
    ]);
  });

  test('is created within a namespace by a user that the system does not know', async () => {
    runAs(1000_650_000);
    jest.spyOn(os, 'userInfo').mockImplementation(() => {
      throw new Error('ENOENT: no such user');
    });
    const [only, ...others] = await identitiesForNewCluster();
    expect([only?.name, only?.owner, others]).toEqual(['a user namespace', 1000_650_000, []]);
    expect(only?.prefix[0]).toBe('unshare');
  });

  test('is created for root by a user without rights, or else within a namespace', async () => {
    runAs(0);
    const all = await identitiesForNewCluster();
    expect(all.at(-1)).toEqual(namespace);
    expect(all.slice(0, -1).map(({ name }) => name)).toContain('nobody');
    for (const { credentials } of all.slice(0, -1)) expect(credentials.uid).toBeGreaterThan(0);
  });
});

describe('a cluster that is there', () => {
  test('is run as the owner of its files', async () => {
    runAs(1000);
    await expect(identityForCluster('/data', 1000, 100)).resolves.toMatchObject({ name: 'this user' });
    runAs(0);
    await expect(identityForCluster('/data', 26, 27)).resolves.toEqual({
      ...{ name: 'user 26', owner: 26, credentials: { uid: 26, gid: 27 }, prefix: [] },
    });
    await expect(identityForCluster('/data', 0, 0)).resolves.toEqual(namespace);
  });

  test('is not run when it belongs to another user', async () => {
    runAs(1000);
    await expect(identityForCluster('/data', 26, 27)).rejects.toThrow(
      '/data belongs to user 26, this process runs as user 1000; run as that user',
    );
  });
});

test('on a system whose users cannot be read, no user "nobody" is assumed', async () => {
  runAs(0);
  jest.spyOn(fs, 'readFile').mockRejectedValue(new Error('EACCES'));
  const [only, ...others] = await identitiesForNewCluster();
  expect(only?.prefix).toContain('--map-user=65534');
  expect(others).toEqual([]);
});

const BINARIES = { initdb: '/opt/initdb', postgres: '/opt/postgres', major: 18 };
const ourselves = { name: 'this user', owner: 1, credentials: {}, prefix: [] };
const shell = (script: string) => ({ file: '/bin/sh', args: ['-c', script], options: { cwd: '/', env: {} } });

afterEach(() => jest.restoreAllMocks());

test('a program is run as its user and gets nothing of our environment', () => {
  process.env['PGDATA'] = '/elsewhere';
  const identity = { ...ourselves, credentials: { uid: 26, gid: 27 }, prefix: ['unshare', '--user', '--'] };
  const { file, args, options } = serverCommand(identity, BINARIES, 'initdb', ['-D', 'x']);
  delete process.env['PGDATA'];
  expect([file, args]).toEqual(['unshare', ['--user', '--', '/opt/initdb', '-D', 'x']]);
  expect(options).toMatchObject({ uid: 26, gid: 27, cwd: '/' });
  expect(Object.keys(options.env)).toEqual(['PATH', 'LC_ALL', 'TZ']);
});

test('libraries whose links lie elsewhere are found there', () => {
  const { file, options } = serverCommand(
    ourselves,
    { ...BINARIES, libraryPath: '/data/lib:/opt/lib' },
    'postgres',
    [],
  );
  expect([file, options.env['LD_LIBRARY_PATH']]).toEqual(['/opt/postgres', '/data/lib:/opt/lib']);
});

test('the error of a failed program has its last lines, or else how it ended', async () => {
  const many = 'i=1; while [ $i -le 20 ]; do echo line $i >&2; i=$((i+1)); done; exit 3';
  await expect(runServerCommand(shell(many), 5000)).rejects.toThrow(/failed: line 9\n[\s\S]*line 20\./);
  await expect(runServerCommand(shell('exit 3'), 5000)).rejects.toThrow(
    /failed: (Error: )?Command failed: \/bin\/sh/,
  );
});

test('a program that does not end is killed', async () => {
  await expect(runServerCommand(shell('sleep 60'), 50)).rejects.toThrow('failed: no end within 50 ms.');
});

test.each<[string, unknown, boolean]>([
  ['EACCES', Object.assign(new Error('no'), { code: 'EACCES' }), true],
  ['a cause of EINVAL', new EmbeddedPostgresError('no', { cause: { code: 'EINVAL' } }), true],
  ['its words', new EmbeddedPostgresError('initdb: could not change: Permission denied'), true],
  ['a namespace that is refused', 'unshare: unshare failed', true],
  ['a full disk', Object.assign(new Error('no space left'), { code: 'ENOSPC' }), false],
  ['nothing that is known', undefined, false],
])('%s: whether another user could succeed', (_what, error, could) => {
  expect(isPermissionProblem(error)).toBe(could);
});

test('only a refused namespace brings the advice to give the files to another user', () => {
  expect(namespaceHint('unshare: unshare failed: Operation not permitted')).toContain('chown -R');
  expect(namespaceHint('FATAL: no')).toBe('');
});

test('without glibc the error says that the binaries need it', () => {
  const report = jest.spyOn(process.report, 'getReport');
  report.mockReturnValue({ header: { glibcVersionRuntime: '2.36' } });
  expect(libcHint()).toBe('');
  report.mockReturnValue({ header: {} });
  expect(libcHint()).toContain('need glibc');
});
