import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { pretendSystem } from '../../../../test/harness/other-system.js';
import type * as Sockets from './data-directory.js';
import type * as Postmaster from './postmaster-file.js';
import type * as Facts from './process-facts.js';

// What is asked of `ps` where there is no /proc; the columns are the same on every system.

let restore: () => void;
let facts: typeof Facts;
let postmaster: typeof Postmaster;
let sockets: typeof Sockets;
beforeAll(() => {
  restore = pretendSystem('darwin');
  jest.isolateModules(() => {
    facts = jest.requireActual('./process-facts.js');
    postmaster = jest.requireActual('./postmaster-file.js');
    sockets = jest.requireActual('./data-directory.js');
  });
});
afterAll(() => restore());

test('a process is identified by its start time, and is gone when it has ended', () => {
  const start = facts.processStart(process.pid);
  expect(start).toMatch(/\d\d:\d\d:\d\d \d{4}$/);
  expect([facts.processStart(process.pid), facts.processStart(2 ** 22 + 1)]).toEqual([start, undefined]);
});

test('pids are compared within one machine', () => {
  expect(facts.pidScope()).toBe(hostname());
});

test('a server is known by its command line', async () => {
  const title = "process.title = '/opt/postgres -D /data/postgres -k'; console.log('up')";
  const child = spawn(process.execPath, ['-e', `${title}; setTimeout(() => undefined, 60_000)`]);
  try {
    await once(child.stdout, 'data');
    const { pid = 0 } = child;
    await expect(postmaster.isPostmaster(pid, '/data/postgres')).resolves.toBe(true);
    await expect(postmaster.isPostmaster(pid, '/data/post')).resolves.toBe(false);
    await expect(postmaster.isPostmaster(process.pid, '/data/postgres')).resolves.toBe(false);
  } finally {
    child.kill('SIGKILL');
  }
});

test('the path of a socket may be four bytes shorter', () => {
  const room = 103 - sockets.socketFile('').length;
  expect(sockets.socketDirectoryFor(`/${'x'.repeat(room - 2)}`, 1)).toMatch(/^\/x/);
  expect(sockets.socketDirectoryFor(`/${'x'.repeat(room - 1)}`, 1)).toMatch(/^\/tmp\//);
});
