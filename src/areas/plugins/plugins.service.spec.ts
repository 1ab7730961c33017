import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { silentLogs } from '../../platform/logging/logger.js';
import type { Settings } from '../../platform/settings/settings.js';
import type { PluginFactory } from './plugin-factory.js';
import type { PluginStates } from './plugin-state.store.js';
import { Plugins } from './plugins.service.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp('/tmp/agw-plugins-');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('a start loads all plugins, four at a time', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `plugin-${index}`);
  await Promise.all(names.map((name) => mkdir(join(directory, name))));
  const loaded: string[] = [];
  let now = 0;
  let most = 0;
  const make = (name: string) => ({
    name,
    load: async () => {
      now += 1;
      most = Math.max(most, now);
      for (let time = 0; time < 3; time += 1) await turn();
      now -= 1;
      loaded.push(name);
    },
  });
  const plugins = new Plugins(
    { make } as unknown as PluginFactory,
    { all: () => Promise.resolve(new Map()) } as unknown as PluginStates,
    { current: { plugins: { directory } } } as unknown as Settings,
    silentLogs,
  );
  await plugins.onApplicationBootstrap();
  expect([most, loaded.toSorted()]).toEqual([4, names]);
});
