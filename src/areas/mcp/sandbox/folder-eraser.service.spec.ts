import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../../platform/database/database.js';
import type { Logs } from '../../../platform/logging/logger.js';
import type { DueWork } from '../../../platform/runtime/due-work.service.js';
import type { Settings } from '../../../platform/settings/settings.js';
import type { McpServers } from '../mcp-servers.service.js';
import { FolderEraser } from './folder-eraser.service.js';
import { folderOf, UserFolders } from './user-folders.js';

const MINUTE_MS = 60_000;
const erasedUsers: string[] = [];
/** Whose folder cannot be removed. */
let stuck: string | undefined;
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'folders-'));
  erasedUsers.length = 0;
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(root, { recursive: true });
});

const pathOf = (user: string): string => join(root, 'notes', folderOf(user));
const write = (user: string): unknown => mkdirSync(pathOf(user), { recursive: true });
const kept = (...users: string[]): string[] => users.filter((user) => existsSync(pathOf(user)));

class SomeFolders extends UserFolders {
  override erase(folder: string): Promise<void> {
    if (stuck !== undefined && folder === folderOf(stuck)) return Promise.reject(new Error('EBUSY'));
    return super.erase(folder);
  }
}

interface Check {
  onAnswer(newest: number): void;
}

/** A gateway's start over these folders. @returns what it logged, and the next poll */
async function started() {
  const rows = (after: number) =>
    erasedUsers.map((user, at) => ({ id: at + 1, folder: folderOf(user) })).filter(({ id }) => id > after);
  const database = { query: (_: unknown, { id }: { id: number }) => Promise.resolve(rows(id)) };
  const settings = { current: { mcp: { state_dir: root }, database: { data_dir: root } } };
  const checks: Check[] = [];
  const error = jest.fn();
  const eraser = new FolderEraser(
    database as unknown as Database,
    new SomeFolders(settings as unknown as Settings),
    { closeUsersOf: () => Promise.resolve() } as unknown as McpServers,
    { watch: (check: Check) => checks.push(check) } as unknown as DueWork,
    { for: () => ({ error }) } as unknown as Logs,
  );
  await eraser.onModuleInit();
  const poll = async (): Promise<void> => {
    checks[0]?.onAnswer(erasedUsers.length);
    await eraser['working'];
  };
  return { error, poll, stop: () => eraser.onModuleDestroy() };
}

test('a folder that cannot be removed holds up no other, and is removed when it can be, also after a restart', async () => {
  stuck = 'ada';
  for (const user of ['ada', 'bob', 'eve']) write(user);
  erasedUsers.push('ada', 'bob');
  const first = await started();
  expect(kept('ada', 'bob', 'eve')).toEqual(['ada', 'eve']);
  erasedUsers.push('eve');
  await first.poll();
  expect(kept('ada', 'eve')).toEqual(['ada']);
  expect(first.error).toHaveBeenCalledTimes(1);
  await first.stop();

  // Bob came back meanwhile.
  write('bob');
  const second = await started();
  expect(kept('ada', 'bob')).toEqual(['ada', 'bob']);
  stuck = undefined;
  await second.poll();
  expect(kept('ada', 'bob')).toEqual(['ada', 'bob']);
  const now = performance.now();
  jest.spyOn(performance, 'now').mockReturnValue(now + MINUTE_MS);
  await second.poll();
  expect(kept('ada', 'bob')).toEqual(['bob']);
  await second.stop();
});
