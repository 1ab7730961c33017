import { currentLogContext, inLogContext } from '../logging/log-context.js';
import { settingsSchema } from './settings.schema.js';
import { SettingsChanges } from './settings-changes.js';

const settings = settingsSchema.parse({});
const change = { before: settings, after: settings, keys: ['agent.max_turns'] };

/** Steps and listeners that record the calls they get. */
function witnesses() {
  const seen: string[] = [];
  const logged: string[] = [];
  const nothing = () => undefined;
  const log = { trace: nothing, debug: nothing, info: nothing, warn: nothing };
  const changes = new SettingsChanges({ ...log, error: (message) => logged.push(message) }, 50);
  const listen = (name: string, keys = ['agent']) => changes.listen(keys, () => seen.push(name));
  const step = (name: string, keys = ['agent'], prepare = () => Promise.resolve()) =>
    changes.prepareWith({ name, keys, prepare: () => prepare().then(() => () => seen.push(name)) });
  return { seen, logged, changes, listen, step };
}

test('steps prepare first; then each of them and each listener is called once', async () => {
  const { seen, changes, listen, step } = witnesses();
  listen('one');
  step('two');
  listen('three', ['agent.max_turns', 'agent']);
  const tell = await changes.prepare(change);
  expect(seen).toEqual([]);
  tell();
  expect(seen).toEqual(['two', 'one', 'three']);
});

test('only those are called whose keys have changed', async () => {
  const { seen, changes, listen, step } = witnesses();
  listen('the key', ['agent.max_turns']);
  listen('another section', ['agents', 'mcp.servers']);
  listen('a longer name', ['agent.max_turns_more']);
  step('another step', ['provider'], () => Promise.reject(new Error('not asked')));
  (await changes.prepare(change))();
  expect(seen).toEqual(['the key']);
});

test('when a step fails, no listener is called', async () => {
  const { seen, changes, listen, step } = witnesses();
  listen('one');
  step('two');
  step('three', ['agent'], () => Promise.reject(new Error('not with me')));
  await expect(changes.prepare(change)).rejects.toThrow('not with me');
  expect(seen).toEqual([]);
});

test('a step that takes too long makes the change fail, and is named', async () => {
  const { changes, step } = witnesses();
  step('slow', ['agent'], () => new Promise(() => undefined));
  await expect(changes.prepare(change)).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('"slow"') as string,
  });
});

test('what a listener starts does not log as the request that changed a setting', async () => {
  const { changes } = witnesses();
  const contexts: unknown[] = [];
  changes.listen(['agent'], () => contexts.push(currentLogContext()));
  await inLogContext({ request_id: 'req_1' }, async () => {
    (await changes.prepare(change))();
    contexts.push(currentLogContext());
  });
  expect(contexts).toEqual([{}, { request_id: 'req_1' }]);
});

test('a listener that fails does not stop the others', async () => {
  const { seen, logged, changes, listen } = witnesses();
  changes.listen(['agent'], () => {
    throw new Error('oops');
  });
  listen('two');
  (await changes.prepare(change))();
  expect(seen).toEqual(['two']);
  expect(logged).toHaveLength(1);
});

test('a listener that was removed is not called any more', async () => {
  const { seen, changes, listen } = witnesses();
  const end = listen('one');
  end();
  (await changes.prepare(change))();
  expect(seen).toEqual([]);
});
