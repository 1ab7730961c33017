import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silentLogs } from '../../logging/logger.js';
import { type DataDirectory, openDataDirectory, socketFile } from './data-directory.js';
import type { Presence } from './presence.js';
import { ServerLog } from './server-process.js';
import { ServerShare } from './server-share.js';
import { ServerStarter } from './server-starter.js';

let folder: string;
let directory: DataDirectory;
let server: Server | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ags-'));
  directory = await openDataDirectory(folder);
  mkdirSync(directory.cluster);
});
afterEach(async () => {
  if (server !== undefined) await promisify(server.close.bind(server))();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** A server on the socket that answers every connection with these errors, one after the other; the last one stays. */
async function refuse(...codes: readonly string[]): Promise<{ asked: () => number }> {
  let asked = 0;
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      const code = codes[Math.min(asked, codes.length - 1)] ?? '';
      asked += 1;
      socket.end(errorResponse(code));
    });
  });
  await once(server.listen(socketFile(directory.cluster)), 'listening');
  return { asked: () => asked };
}

/** PostgreSQL's `ErrorResponse`. */
function errorResponse(code: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0Mrefused with ${code}\0\0`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}

/** Leaves a server whose connection has broken. @returns what was warned of */
async function leave(): Promise<string[]> {
  const told: string[] = [];
  const logger = {
    ...silentLogs.for('test'),
    warn: (sentence: string, fields: object = {}) => told.push(`${sentence} ${JSON.stringify(fields)}`),
  };
  const presence = {
    hasOtherUsers: () => Promise.reject(new Error('the connection ended')),
    leave: () => Promise.resolve(),
  } as unknown as Presence;
  const share = new ServerShare(directory, new ServerLog(directory.logFile), logger);
  await share.leave({ presence, socketDirectory: directory.cluster, adopted: false });
  return told;
}

describe('a process that leaves after its connection broke', () => {
  test('is the last one when nothing listens any more', async () => {
    await expect(leave()).resolves.toEqual([]);
  });

  test('asks again while the server is full, and is the last one when it accepts no connections', async () => {
    const { asked } = await refuse('53300', '57P03');
    await expect(leave()).resolves.toEqual([]);
    expect(asked()).toBe(2);
  });

  test('leaves the server running when it cannot tell who else uses it', async () => {
    await refuse('28000');
    await expect(leave()).resolves.toEqual([
      'the embedded server was left running {"reason":"refused with 28000"}',
    ]);
  });

  test('leaves it running when another process holds the lock', async () => {
    rmSync(folder, { recursive: true });
    const [told] = await leave();
    expect(told).toMatch(/left running .*the lock .* cannot be taken: .*ENOENT/);
  });
});

describe('a process that joins', () => {
  const starter = () =>
    new ServerStarter(directory, new ServerLog(directory.logFile), silentLogs.for('test'));

  test('waits for a server that accepts no connections yet, and gives up at one that never will', async () => {
    await refuse('57P03', '57P03', '28000');
    await expect(starter().join(AbortSignal.timeout(5000))).rejects.toThrow('refused with 28000');
  });

  test("gets the server's last error when the time is over", async () => {
    await refuse('57P03');
    await expect(starter().join(AbortSignal.timeout(100))).rejects.toThrow(
      /did not become ready in time: refused with 57P03\. See .*postgres\.log/,
    );
  });

  test('is told that the lock is held when it does not get it in time', async () => {
    const share = new ServerShare(directory, new ServerLog(directory.logFile), silentLogs.for('test'));
    await refuse('57P03');
    const first = share.join(AbortSignal.timeout(300));
    await expect(share.join(AbortSignal.timeout(50))).rejects.toThrow('another process holds it');
    await expect(first).rejects.toThrow('did not become ready in time');
  });
});
