import { currentLogContext, inLogContext } from '../logging/log-context.js';
import { settingsSchema } from './settings.schema.js';
import { type PreparedChange, type SettingsSubscriber, SettingsSubscribers } from './settings-subscribers.js';

const settings = settingsSchema.parse({});
const change = { before: settings, after: settings, keys: ['agent.max_turns'] };

/** Subscribers that record the calls they get. */
function witnesses() {
  const seen: string[] = [];
  const logged: string[] = [];
  const nothing = () => undefined;
  const log = { trace: nothing, debug: nothing, info: nothing, warn: nothing };
  const subscribers = new SettingsSubscribers({ ...log, error: (message) => logged.push(message) }, 50);
  const add = (name: string, prepare: () => Promise<PreparedChange | undefined>) => {
    const subscriber: SettingsSubscriber = { name, prepare };
    return subscribers.add(subscriber);
  };
  const ready = (name: string): PreparedChange => ({
    commit: () => seen.push(`${name} commits`),
    rollBack: () => seen.push(`${name} rolls back`),
  });
  return { seen, logged, subscribers, add, ready };
}

test('all prepare, then all commit', async () => {
  const { seen, subscribers, add, ready } = witnesses();
  add('one', () => Promise.resolve(ready('one')));
  add('two', () => Promise.resolve(undefined));
  add('three', () => Promise.resolve(ready('three')));
  const prepared = await subscribers.prepare(change);
  expect(seen).toEqual([]);
  prepared.commit();
  expect(seen).toEqual(['one commits', 'three commits']);
});

test('when one fails, those that were ready roll back and none commits', async () => {
  const { seen, subscribers, add, ready } = witnesses();
  add('one', () => Promise.resolve(ready('one')));
  add('two', () => Promise.reject(new Error('not with me')));
  await expect(subscribers.prepare(change)).rejects.toThrow('not with me');
  expect(seen).toEqual(['one rolls back']);
});

test('a late one makes the change fail, and rolls back when it gets ready', async () => {
  const { seen, subscribers, add, ready } = witnesses();
  let finish: (prepared: PreparedChange) => void = () => undefined;
  add('slow', () => new Promise((resolve) => (finish = resolve)));
  await expect(subscribers.prepare(change)).rejects.toMatchObject({ status: 503 });
  finish(ready('slow'));
  await Promise.resolve();
  await Promise.resolve();
  expect(seen).toEqual(['slow rolls back']);
});

test('what a commit starts does not log as the request that changed a setting', async () => {
  const { subscribers, add } = witnesses();
  const contexts: unknown[] = [];
  add('one', () => Promise.resolve({ commit: () => contexts.push(currentLogContext()) }));
  await inLogContext({ request_id: 'req_1' }, async () => {
    (await subscribers.prepare(change)).commit();
    contexts.push(currentLogContext());
  });
  expect(contexts).toEqual([{}, { request_id: 'req_1' }]);
});

test('one that fails to commit does not stop the others', async () => {
  const { seen, logged, subscribers, add, ready } = witnesses();
  add('broken', () =>
    Promise.resolve({
      commit: () => {
        throw new Error('oops');
      },
    }),
  );
  add('two', () => Promise.resolve(ready('two')));
  (await subscribers.prepare(change)).commit();
  expect(seen).toEqual(['two commits']);
  expect(logged).toHaveLength(1);
});

test('an ended subscription is not called any more', async () => {
  const { seen, subscribers, add, ready } = witnesses();
  const leave = add('one', () => Promise.resolve(ready('one')));
  leave();
  (await subscribers.prepare(change)).commit();
  expect(seen).toEqual([]);
});
