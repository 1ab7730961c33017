import { HostMemory } from './host-memory.js';

const bytes = (...values: number[]) => Uint8Array.from(values);

test('a block is read back as it was stored; an unknown offset has length 0', () => {
  const memory = new HostMemory(1_000_000);
  const offset = memory.store(bytes(1, 2, 3));
  expect([memory.lengthOf(offset), memory.block(offset)]).toEqual([3, bytes(1, 2, 3)]);
  expect([memory.lengthOf(offset + 1), memory.block(offset + 1)]).toEqual([0, bytes()]);
});

test('an empty block takes no space', () => {
  expect(new HostMemory(1_000_000).alloc(0)).toBe(0);
});

test('a freed block is reused once for something that fits', () => {
  const memory = new HostMemory(1_000_000);
  const [small, large] = [memory.alloc(10), memory.alloc(100)];
  memory.free(small);
  memory.free(large);
  memory.free(large);
  memory.free(4711);
  expect(memory.alloc(80)).toBe(large);
  expect(memory.lengthOf(large)).toBe(80);
  expect(memory.alloc(80)).toBeGreaterThan(large);
  expect(memory.alloc(16)).toBe(small);
});

test('grows to its limit and not past it, and keeps its contents', () => {
  const memory = new HostMemory(200_000);
  const first = memory.store(bytes(7));
  memory.alloc(70_000);
  expect([memory.size, memory.loadByte(first)]).toEqual([131_072, 7]);
  memory.alloc(100_000);
  expect([memory.size, memory.loadByte(first)]).toEqual([200_000, 7]);
  expect(() => memory.alloc(100_000)).toThrow('its buffers would take more than 200000 bytes');
});

test('has 65,536 blocks at most', () => {
  const memory = new HostMemory(16_777_216);
  for (let count = 0; count < 65_536; count += 1) memory.alloc(1);
  expect(() => memory.alloc(1)).toThrow('too many buffers at once');
});

test('a call starts with an empty memory: no byte of the previous call is left', () => {
  const memory = new HostMemory(1_000_000);
  const offset = memory.store(bytes(9));
  memory.reset();
  expect([memory.lengthOf(offset), memory.loadByte(offset)]).toEqual([0, 0]);
  memory.alloc(500_000);
  memory.reset();
  expect(memory.size).toBe(65_536);
});

test('nothing outside the allocated buffers can be read', () => {
  const memory = new HostMemory(1_000_000);
  const offset = memory.store(bytes(1, 2, 3));
  expect(() => memory.read(offset, 100)).toThrow('a read went past the end of the allocated buffers');
  expect(() => memory.loadLong(65_530)).toThrow(RangeError);
  expect(() => memory.storeByte(-1, 0)).toThrow(RangeError);
});

test('bytes and longs are stored little endian, as in WebAssembly', () => {
  const memory = new HostMemory(1_000_000);
  const offset = memory.alloc(8);
  memory.storeLong(offset, 0x0102n);
  memory.storeByte(offset + 7, 0xff);
  expect([memory.loadByte(offset), memory.loadLong(offset)]).toEqual([2, 0xff00_0000_0000_0102n]);
});
