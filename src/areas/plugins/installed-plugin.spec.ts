import { InstalledPlugin } from './installed-plugin.js';
import { PluginProblem } from './plugin.js';
import type { PluginState } from './plugin-state.store.js';
import type { PluginTools } from './plugin-tools.js';
import type { PluginRunner } from './thread/plugin-runner.js';

const STATE: PluginState = { name: 'one', disabled: false, revision: 1, loads: 0 };

/** A plugin that starts these versions one after the other; an error stands for a version that does not start. */
function plugin(...versions: (string | Error)[]) {
  const ended: string[] = [];
  const nameOf = new Map<unknown, string>();
  let offered: string | undefined;
  let isTaken = false;
  const start = (): Promise<PluginRunner> => {
    const version = versions.shift() ?? new Error('no more versions');
    if (version instanceof Error) return Promise.reject(version);
    const end = (how: string) => () => Promise.resolve(void ended.push(`${how} ${version}`));
    const manifest = { version, type: 'tool', capabilities: ['tool:act'] };
    const runner = {
      pack: { manifest, folder: '/p' },
      memoryBytes: 7,
      drain: end('drain'),
      retire: () => void ended.push(`retire ${version}`),
      stop: end('stop'),
    };
    nameOf.set(runner, version);
    return Promise.resolve(runner as unknown as PluginRunner);
  };
  const tools = {
    offer: (_name: string, runner: unknown) => {
      if (isTaken) throw new PluginProblem('its tools cannot be offered: taken');
      offered = nameOf.get(runner);
    },
    isOffered: () => offered !== undefined,
    withdraw: () => (offered = undefined),
    verify: () => Promise.resolve(),
  } as unknown as PluginTools;
  const made = new InstalledPlugin('one', undefined, {
    start,
    tools,
    redact: (text) => text.replace('s3cret', '***'),
  });
  return { made, ended, offered: () => offered, take: (is: boolean) => (isTaken = is) };
}

const settled = () => Promise.resolve(STATE);
const refused = () => Promise.reject(new Error('the database is away, s3cret'));

test('a loaded plugin serves and describes itself', async () => {
  const { made, offered } = plugin('1.0.0');
  expect([made.status, made.folder, made.version]).toEqual(['failed', undefined, '']);
  await made.load(settled);
  expect(made.describe()).toMatchObject({
    status: 'loaded',
    version: '1.0.0',
    memoryBytes: 7,
    error: undefined,
  });
  expect([offered(), made.folder]).toEqual(['1.0.0', { name: 'one', folder: '/p' }]);
});

test('a version that does not start leaves the previous one serving, with the reason, redacted', async () => {
  const { made, offered, ended } = plugin('1.0.0', new PluginProblem('no s3cret found'));
  await made.load(settled);
  await expect(made.load(settled)).rejects.toThrow('no s3cret found');
  expect([made.status, offered(), ended]).toEqual(['loaded', '1.0.0', []]);
  made.disable({ ...STATE, disabled: true });
  made.accept(STATE);
  expect(made.describe()).toMatchObject({ status: 'failed', error: 'no *** found' });
});

test('a reload that is not stored is undone: the previous version serves, the new one ends', async () => {
  const { made, offered, ended } = plugin('1.0.0', '1.1.0');
  await made.load(settled);
  await expect(made.load(refused)).rejects.toThrow('the database is away');
  expect([offered(), ended, made.version]).toEqual(['1.0.0', ['stop 1.1.0'], '1.0.0']);
});

test('a first load that is not stored offers nothing', async () => {
  const { made, offered, ended } = plugin('1.0.0');
  await expect(made.load(refused)).rejects.toThrow('the database is away');
  expect([offered(), ended, made.describe().error]).toEqual([
    undefined,
    ['stop 1.0.0'],
    'the database is away, ***',
  ]);
});

test('the previous version answers its accepted calls and then ends', async () => {
  const { made, ended } = plugin('1.0.0', '1.1.0');
  await made.load(settled);
  await made.load(() => Promise.resolve(undefined));
  expect([made.version, ended]).toEqual(['1.1.0', ['retire 1.0.0']]);
});

test('an enabled plugin is offered again, unless that is not stored or its names are taken', async () => {
  const { made, offered, take } = plugin('1.0.0');
  await made.load(settled);
  made.disable({ ...STATE, disabled: true });
  expect([made.status, offered(), made.isRunning]).toEqual(['disabled', undefined, true]);
  await expect(made.offer(refused)).rejects.toThrow('the database is away');
  expect([made.status, offered()]).toEqual(['disabled', undefined]);
  take(true);
  await expect(made.offer(settled)).rejects.toThrow('taken');
  take(false);
  await made.offer(settled);
  expect([made.status, offered()]).toEqual(['loaded', '1.0.0']);
});

test('a plugin that never started can be enabled and is still failed', async () => {
  const { made } = plugin();
  await made.offer(settled);
  expect(made.status).toBe('failed');
});

test.each(['drain', 'stop'] as const)('a removed plugin ends (%s) once', async (how) => {
  const { made, ended } = plugin('1.0.0');
  await made.load(settled);
  await made.remove(how);
  await made.remove(how);
  expect([ended, made.isRunning]).toEqual([[`${how} 1.0.0`], false]);
});

test('it knows whether the stored state is newer', async () => {
  const { made } = plugin('1.0.0');
  await made.load(settled);
  expect([made.isBehind(STATE), made.isBehind({ ...STATE, revision: 2 })]).toEqual([false, true]);
  expect([made.hasMissedReload(STATE), made.hasMissedReload({ ...STATE, loads: 1 })]).toEqual([false, true]);
});
