import { InstalledPlugin } from './installed-plugin.js';
import { PluginProblem } from './plugin-problem.js';
import type { PluginState } from './state/plugin-state.store.js';
import type { PluginRunner } from './thread/plugin-runner.js';
import type { PluginTools } from './tools/plugin-tools.js';

const STATE: PluginState = { name: 'one', disabled: false, revision: 1, loads: 0 };

/** A plugin whose versions are started one after the other; an error is one that does not start. */
function plugin(...versions: (string | Error)[]) {
  const told: string[] = [];
  const nameOf = new Map<unknown, string>();
  let offered: string | undefined;
  let isTaken = false;
  const start = (): Promise<PluginRunner> => {
    const version = versions.shift() ?? new Error('no more versions');
    if (version instanceof Error) return Promise.reject(version);
    const end = (how: string) => () => Promise.resolve(void told.push(`${how} ${version}`));
    const manifest = { version, type: 'tool', capabilities: ['tool:act'] };
    const runner = {
      pack: { manifest, folder: '/p' },
      memoryBytes: 7,
      drain: end('drain'),
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
  return { made, told, offered: () => offered, take: (is: boolean) => (isTaken = is) };
}

const settled = () => Promise.resolve(STATE);
const refused = () => Promise.reject(new Error('the database is away, s3cret'));

test('a plugin that is loaded serves, and tells what it is', async () => {
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

test('a version that does not start leaves the one before serving, and why is told without secrets', async () => {
  const { made, offered, told } = plugin('1.0.0', new PluginProblem('no s3cret found'));
  await made.load(settled);
  await expect(made.load(settled)).rejects.toThrow('no s3cret found');
  expect([made.status, offered(), told]).toEqual(['loaded', '1.0.0', []]);
  made.disable({ ...STATE, disabled: true });
  made.accept(STATE);
  expect(made.describe()).toMatchObject({ status: 'failed', error: 'no *** found' });
});

test('a reload that is not settled is taken back: the version before serves, the new one ends', async () => {
  const { made, offered, told } = plugin('1.0.0', '1.1.0');
  await made.load(settled);
  await expect(made.load(refused)).rejects.toThrow('the database is away');
  expect([offered(), told, made.version]).toEqual(['1.0.0', ['stop 1.1.0'], '1.0.0']);
});

test('a first load that is not settled offers nothing', async () => {
  const { made, offered, told } = plugin('1.0.0');
  await expect(made.load(refused)).rejects.toThrow('the database is away');
  expect([offered(), told, made.describe().error]).toEqual([
    undefined,
    ['stop 1.0.0'],
    'the database is away, ***',
  ]);
});

test('the version before answers what it has accepted, and then ends', async () => {
  const { made, told } = plugin('1.0.0', '1.1.0');
  await made.load(settled);
  await made.load(() => Promise.resolve(undefined));
  expect([made.version, told]).toEqual(['1.1.0', ['drain 1.0.0']]);
});

test('what is enabled again is offered anew, unless that is not settled or its names are taken', async () => {
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

test('what never started can be settled, and is still failed', async () => {
  const { made } = plugin();
  await made.offer(settled);
  expect(made.status).toBe('failed');
});

test.each(['drain', 'stop'] as const)('what is removed ends (%s), once', async (how) => {
  const { made, told } = plugin('1.0.0');
  await made.load(settled);
  await made.remove(how);
  await made.remove(how);
  expect([told, made.isRunning]).toEqual([[`${how} 1.0.0`], false]);
});

test('it knows whether others have settled something newer', async () => {
  const { made } = plugin('1.0.0');
  await made.load(settled);
  expect([made.isBehind(STATE), made.isBehind({ ...STATE, revision: 2 })]).toEqual([false, true]);
  expect([made.hasLoadsBefore(STATE), made.hasLoadsBefore({ ...STATE, loads: 1 })]).toEqual([false, true]);
});
