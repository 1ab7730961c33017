import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogs } from '../../../platform/logging/logger.js';
import { Environment } from '../../../platform/settings/environment.js';
import { FixedSettings } from '../../../platform/settings/settings.js';
import { settingsSchema } from '../../../platform/settings/settings.schema.js';
import { Sandbox, SandboxMissing } from './sandbox.service.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agx-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Wish {
  readonly backend?: string;
  /** The script of `bwrap`; undefined for a machine without it. */
  readonly bwrap?: string;
  readonly host?: string;
  readonly url?: string;
  readonly server?: object;
}

async function sandbox({ backend = 'auto', bwrap, host = '127.0.0.1', url = '', server = {} }: Wish) {
  if (bwrap !== undefined) writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${bwrap}\n`, { mode: 0o755 });
  const settings = new FixedSettings(
    settingsSchema.parse({
      gateway: { host },
      security: { sandbox: { backend } },
      database: { data_dir: join(folder, 'data'), url },
      mcp: { servers: { own: { command: 'server', args: ['--x'], env: { A: '1' }, ...server } } },
    }),
  );
  const warnings: string[] = [];
  const logs = {
    for: () => ({ ...silentLogs.for('t'), warn: (what: string) => warnings.push(what) }),
  } as unknown as typeof silentLogs;
  const environment = new Environment({ PATH: folder, GATEWAY_CONFIG: join(folder, 'gateway.toml') });
  const made = new Sandbox(settings, environment, logs);
  await made.onModuleInit();
  const { own } = settings.current.mcp.servers;
  if (own === undefined) throw new Error('There is no such server.');
  return { made, warnings, command: () => made.commandOf(own) };
}

/** The command behind the limits and the control groups. */
function started(args: readonly string[]): readonly string[] {
  const at = args.indexOf('mcp-child');
  return args.slice(at + 4 + Number(args[at + 3]));
}

test('where bubblewrap works it is used, with a bound on everything', async () => {
  const { made, command } = await sandbox({ bwrap: 'exit 0', server: { network: false } });
  expect(made.backend).toBe('bubblewrap');
  const { args, env, fourthFile } = command();
  const [file, ...inside] = started(args);
  expect([file, inside.slice(-2)]).toEqual(['bwrap', ['server', '--x']]);
  const line = inside.join(' ');
  for (const part of [
    '--unshare-user',
    '--disable-userns',
    '--unshare-net',
    '--seccomp 4',
    '--size 536870912 --tmpfs /tmp',
    '--size 67108864 --tmpfs /dev/shm',
    '--remount-ro /dev --remount-ro /',
    'mcp-child 512 server --x',
  ])
    expect(line).toContain(part);
  expect(line).not.toContain('--ro-bind / /');
  expect(fourthFile?.byteLength).toBeGreaterThan(0);
  const caches = { npm_config_cache: '/tmp/.npm', XDG_CACHE_HOME: '/tmp/.cache' };
  expect(env).toEqual({ PATH: folder, A: '1', ...caches });
});

test('a bubblewrap without --disable-userns is used all the same', async () => {
  const { made, command } = await sandbox({
    bwrap: 'case "$*" in *--disable-userns*) exit 1;; esac; exit 0',
    server: { network: true, cwd: folder },
  });
  expect(made.backend).toBe('bubblewrap');
  const { args } = command();
  expect([args.includes('--disable-userns'), args.includes('--unshare-net')]).toEqual([false, false]);
  expect(args[args.indexOf('--chdir') + 1]).toBe(folder);
});

test.each<[what: string, wish: Wish]>([
  ['embedded database, loopback', { host: '127.0.0.1' }],
  ['embedded database, loopback of IPv6', { host: '::1' }],
  ['embedded database, loopback by name', { host: 'localhost' }],
])('without bubblewrap children run with a warning: %s', async (_what, wish) => {
  const { made, warnings, command } = await sandbox(wish);
  expect(started(command().args)).toEqual(['server', '--x']);
  expect([made.backend, made.warning]).toEqual(['none', expect.stringContaining('without a sandbox')]);
  expect(warnings).toEqual([made.warning]);
});

test.each<[what: string, wish: Wish, cause: string]>([
  ['another address', { host: '0.0.0.0' }, 'it listens at 0.0.0.0'],
  ['a name', { host: 'gateway.example.com' }, 'it listens at gateway.example.com'],
  ['a database of its own', { url: 'postgres://db/gateway' }, 'it has a database of its own'],
])('without bubblewrap children are refused: %s', async (_what, wish, cause) => {
  const { made, warnings, command } = await sandbox(wish);
  expect(command).toThrow(SandboxMissing);
  expect(command).toThrow(cause);
  expect(command).toThrow('accept it with backend = "none" under [security.sandbox]');
  expect([made.backend, made.warning, warnings.length]).toEqual(['none', undefined, 1]);
});

test.each([
  ['says why', 'echo "bwrap: No permissions" >&2; echo more >&2; exit 1', 'bwrap: No permissions'],
  ['says nothing', 'exit 1', 'it exited with code 1'],
])('a bubblewrap that does not work and %s is reported', async (_what, bwrap, reason) => {
  const { made } = await sandbox({ bwrap });
  expect(made.warning).toContain(`Problem here: ${reason}`);
  expect(made.warning).not.toContain('more');
});

test('a gateway that requires bubblewrap does not start without it', async () => {
  await expect(sandbox({ backend: 'bubblewrap' })).rejects.toThrow(
    '"bubblewrap", which does not work here: bubblewrap is not installed',
  );
});

test('with backend none there is neither a probe nor a warning', async () => {
  const { made, warnings, command } = await sandbox({ backend: 'none', bwrap: 'exit 0', host: '0.0.0.0' });
  expect(started(command().args)).toEqual(['server', '--x']);
  expect([made.backend, made.warning, warnings]).toEqual(['none', undefined, []]);
});
