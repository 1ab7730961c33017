import type { PluginPackage } from '../plugin-package.js';
import { PluginRunner } from './plugin-runner.js';
import { type PluginHost, PluginThread } from './plugin-thread.js';

const PACK = {
  manifest: { capabilities: ['tool:say'] },
  callTimeoutMs: 1000,
} as unknown as PluginPackage;
const HOST = {} as PluginHost;
const DESCRIBED = JSON.stringify({ tools: [{ name: 'say' }] });
const SIGNAL = new AbortController().signal;

/** Counts the threads that were started and those that still run; every call answers with the number of its thread. */
function fakeThreads() {
  const threads = { started: 0, running: 0 };
  jest.spyOn(PluginThread, 'start').mockImplementation(() => {
    threads.started += 1;
    threads.running += 1;
    const number = threads.started;
    const thread = {
      isGone: false,
      call: () => Promise.resolve(JSON.stringify({ content: [{ type: 'text', text: String(number) }] })),
      stop() {
        if (!this.isGone) threads.running -= 1;
        this.isGone = true;
        return Promise.resolve();
      },
    };
    return Promise.resolve({ thread: thread as unknown as PluginThread, described: DESCRIBED });
  });
  return threads;
}

afterEach(() => jest.restoreAllMocks());

test('a call that arrives after a reload still runs on its version, and no thread is left behind', async () => {
  const threads = fakeThreads();
  const runner = await PluginRunner.start(PACK, HOST);
  const accepted = runner.call('say', {}, SIGNAL);
  runner.retire();
  expect(await accepted).toBe('1');
  expect(threads.running).toBe(0);
  const late = await Promise.all([runner.call('say', {}, SIGNAL), runner.call('say', {}, SIGNAL)]);
  expect(late).toEqual(['2', '2']);
  expect(threads).toEqual({ started: 2, running: 0 });
});

test('a call that arrives after a removal is refused', async () => {
  fakeThreads();
  const runner = await PluginRunner.start(PACK, HOST);
  await runner.drain();
  await expect(runner.call('say', {}, SIGNAL)).rejects.toThrow('the plugin was stopped');
});
