import { SystemNameResolver } from './name-resolver.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

/** Answers what a test says, and counts who is being asked for. */
function resolver(answer: (name: string) => Promise<string[]>) {
  const names = new SystemNameResolver();
  const seen = { asked: [] as string[], atOnce: 0, most: 0 };
  names.ask = async (name) => {
    seen.asked.push(name);
    seen.atOnce += 1;
    seen.most = Math.max(seen.most, seen.atOnce);
    return answer(name).finally(() => (seen.atOnce -= 1));
  };
  return { names, seen };
}

const forever = () => new Promise<string[]>(() => undefined);

test('finds what the system finds', async () => {
  const found = await new SystemNameResolver().addressesOf('localhost');
  expect(found.some((address) => address === '127.0.0.1' || address === '::1')).toBe(true);
});

test('asks once for all who want the same name at the same time, and answers all of them', async () => {
  const { names, seen } = resolver(async () => ['192.0.2.1']);
  const answers = await Promise.all([1, 2, 3].map(() => names.addressesOf('one.example')));
  expect(answers).toEqual([['192.0.2.1'], ['192.0.2.1'], ['192.0.2.1']]);
  expect(seen.asked).toEqual(['one.example']);
});

test('a name that is not found is asked for again soon, and may be found then', async () => {
  let isThere = false;
  const { names } = resolver(async () => {
    if (!isThere) throw new Error('no such name');
    return ['192.0.2.1'];
  });
  await expect(names.addressesOf('late.example')).rejects.toThrow('no such name');
  isThere = true;
  await expect(names.addressesOf('late.example')).rejects.toThrow('no such name');
  jest.advanceTimersByTime(2100);
  await expect(names.addressesOf('late.example')).resolves.toEqual(['192.0.2.1']);
});

test('two thousand names are kept, and the one that was asked for longest ago is dropped', async () => {
  const { names, seen } = resolver(async () => ['192.0.2.1']);
  for (let index = 0; index <= 2000; index += 1) await names.addressesOf(`n${index}.example`);
  expect(seen.asked).toHaveLength(2001);
  await names.addressesOf('n2000.example');
  expect(seen.asked).toHaveLength(2001);
  await names.addressesOf('n0.example');
  expect(seen.asked.slice(2001)).toEqual(['n0.example']);
});

test('a hundred names that hang take one thread, and a name that was found before does not wait for them', async () => {
  const { names, seen } = resolver((name) =>
    name.startsWith('dead') ? forever() : Promise.resolve(['192.0.2.1']),
  );
  await names.addressesOf('alive.example');
  for (let index = 0; index < 100; index += 1) void names.addressesOf(`dead${index}.example`);
  jest.advanceTimersByTime(5100);
  await expect(names.addressesOf('alive.example')).resolves.toEqual(['192.0.2.1']);
  expect(seen.asked.filter((name) => name.startsWith('dead'))).toHaveLength(1);
});

test('a name that was never looked up does not wait behind those that are known to fail', async () => {
  let hangs = false;
  const { names, seen } = resolver((name) => {
    if (!name.startsWith('dead')) return Promise.resolve(['192.0.2.1']);
    return hangs ? forever() : Promise.reject(new Error('no such name'));
  });
  const dead = Array.from({ length: 20 }, (_, index) => `dead${index}.example`);
  for (const name of dead) await expect(names.addressesOf(name)).rejects.toThrow();
  jest.advanceTimersByTime(2100);
  hangs = true;
  for (const name of dead) void names.addressesOf(name);
  await expect(names.addressesOf('new.example')).resolves.toEqual(['192.0.2.1']);
  expect(seen.atOnce).toBe(1);
});
