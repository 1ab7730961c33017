import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Environment } from '../../config/environment.js';
import { FixedSettings } from '../../config/fixed-settings.js';
import type { McpServerSettings } from '../../config/sections/mcp.section.js';
import { settingsSchema } from '../../config/settings.schema.js';
import { silentLogs } from '../../logs/silent-logs.js';
import { Sandbox } from './sandbox.service.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agx-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A sandbox on a machine whose `bwrap` does this; undefined for one that has none. */
function sandbox(backend: string, bwrap?: string) {
  if (bwrap !== undefined) writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${bwrap}\n`, { mode: 0o755 });
  const settings = new FixedSettings(
    settingsSchema.parse({ security: { sandbox: { backend } }, database: { data_dir: folder } }),
  );
  const told: unknown[] = [];
  const logs = {
    for: () => ({ ...silentLogs.for('t'), debug: (_what: string, why: unknown) => told.push(why) }),
  } as unknown as typeof silentLogs;
  return { made: new Sandbox(settings, new Environment({ PATH: folder, GATEWAY_CONFIG: '' }), logs), told };
}

const SERVER = { command: 'server', args: ['--x'], cwd: '', env: { A: '1' }, writable_paths: ['out'] };
const serverOf = (more: object = {}): McpServerSettings =>
  ({ ...SERVER, network: false, ...more }) as unknown as McpServerSettings;
/** What stands behind the limits. */
const started = (args: readonly string[]): readonly string[] => args.slice(args.indexOf('mcp-child') + 3);

test('where bubblewrap works it is used', async () => {
  const { made } = sandbox('auto', 'exit 0');
  await made.onModuleInit();
  expect(made.backend).toBe('bubblewrap');
  const [file, ...args] = started(made.commandOf(serverOf()).args);
  expect([file, args.includes('--unshare-net'), args.slice(-2)]).toEqual(['bwrap', true, ['server', '--x']]);
  const there = args.slice(args.indexOf('--bind'), args.indexOf('--bind') + 3);
  expect(there).toEqual(['--bind', resolve('out'), resolve('out')]);
  // What the gateway itself keeps is hidden.
  expect(args.join(' ')).toContain(`--tmpfs ${folder}`);
});

test('a program in a folder of its own is run there, with the network when it may', async () => {
  const { made } = sandbox('bubblewrap', 'exit 0');
  await made.onModuleInit();
  const args = started(made.commandOf(serverOf({ cwd: folder, network: true })).args);
  expect([args.includes('--unshare-net'), args[args.indexOf('--chdir') + 1]]).toEqual([false, folder]);
  expect(args.join(' ')).toContain(`--ro-bind ${folder} ${folder}`);
});

test.each([
  ['says why', 'echo "bwrap: No permissions" >&2; echo more >&2; exit 1', 'bwrap: No permissions'],
  ['says nothing', 'exit 1', 'Command failed: bwrap'],
])(
  'where bubblewrap does not work and %s, children run without when they may',
  async (_what, bwrap, reason) => {
    const { made, told } = sandbox('auto', bwrap);
    await made.onModuleInit();
    expect(made.backend).toBe('none');
    expect(told).toEqual([{ reason: expect.stringContaining(reason) as unknown }]);
    expect(started(made.commandOf(serverOf()).args)).toEqual(['server', '--x']);
  },
);

test('without bubblewrap a gateway that insists on it does not start', async () => {
  await expect(sandbox('bubblewrap').made.onModuleInit()).rejects.toThrow(
    /"bubblewrap", which does not work here: .*ENOENT/,
  );
});

test('nobody is asked when there is to be none', async () => {
  const { made, told } = sandbox('none', 'exit 0');
  await made.onModuleInit();
  expect([made.backend, told]).toEqual(['none', []]);
});
