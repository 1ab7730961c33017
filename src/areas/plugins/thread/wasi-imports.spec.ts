import { wasiFunction } from './wasi-imports.js';

const memory = new ArrayBuffer(200_000);
const view = new DataView(memory);
const wasi = (name: string, ...args: (number | bigint)[]): number =>
  (wasiFunction(name, () => memory) as (...given: (number | bigint)[]) => number)(...args);

const [OK, BAD_DESCRIPTOR, NOT_SUPPORTED] = [0, 8, 52];

beforeEach(() => new Uint8Array(memory).fill(0xee));

test.each(['args', 'environ'])('there is no %s', (what) => {
  expect([wasi(`${what}_sizes_get`, 0, 4), wasi(`${what}_get`, 8, 12)]).toEqual([OK, OK]);
  expect([view.getUint32(0, true), view.getUint32(4, true)]).toEqual([0, 0]);
});

test.each(['fd_fdstat_get', 'fd_prestat_get', 'fd_close'])('%s: no file is open', (name) => {
  expect(wasi(name, 3, 0)).toBe(BAD_DESCRIPTOR);
});

test.each(['path_open', 'sock_accept', 'fd_read', 'toString', 'constructor'])(
  '%s is not supported',
  (name) => {
    expect(wasi(name)).toBe(NOT_SUPPORTED);
  },
);

test('the clock returns nanoseconds since 1970', () => {
  const before = BigInt(Date.now()) * 1_000_000n;
  expect([wasi('clock_time_get', 0, 1n, 16), wasi('sched_yield')]).toEqual([OK, OK]);
  expect(view.getBigUint64(16, true)).toBeGreaterThanOrEqual(before);
});

test('random bytes fill the requested range and nothing beside it', () => {
  expect(wasi('random_get', 8, 150_000)).toBe(OK);
  expect([view.getUint32(4, true), view.getUint32(150_008, true)]).toEqual([0xeeee_eeee, 0xeeee_eeee]);
  const tail = Buffer.from(memory, 149_944, 64);
  expect(tail.equals(Buffer.alloc(64, 0xee))).toBe(false);
});

test.each([1, 2])('output to descriptor %d is counted and discarded', (descriptor) => {
  view.setUint32(4, 10, true);
  view.setUint32(12, 5, true);
  expect([wasi('fd_write', descriptor, 0, 2, 16), view.getUint32(16, true)]).toEqual([OK, 15]);
});

test('no other descriptor can be written to', () => {
  expect([wasi('fd_write', 3, 0, 1, 16), view.getUint32(16, true)]).toEqual([BAD_DESCRIPTOR, 0xeeee_eeee]);
});

test('an access outside its memory ends the call', () => {
  expect(() => wasi('random_get', 199_990, 100)).toThrow('Invalid typed array length');
});
