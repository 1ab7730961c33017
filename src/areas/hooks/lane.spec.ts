import type { Delivery } from './delivery.js';
import { Lane } from './lane.js';

const deliveries = (from: number, to: number): Delivery[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ sequence: from + index }) as Delivery);

function busyLane(): Lane {
  const lane = new Lane('hook_1', false, performance.now());
  lane.add(deliveries(1, 10), 10);
  lane.sending = 1;
  return lane;
}

test('a lane asks for more when half of a claim is left, and only for later deliveries', () => {
  const lane = busyLane();
  const wanted = Array.from({ length: 10 }, () => [lane.next()?.sequence, lane.wantsMore]);
  expect(wanted.filter(([, wants]) => wants).map(([sequence]) => sequence)).toEqual([5, 6, 7, 8, 9, 10]);
  expect(lane.after).toBe(10);
});

test('after a claim that returned everything, the next one waits until all outcomes are stored', () => {
  const lane = busyLane();
  lane.add(deliveries(11, 12), 10);
  while (lane.next() !== undefined);
  expect(lane.wantsMore).toBe(false);
  lane.sending = 0;
  lane.unwritten = 1;
  expect([lane.wantsMore, lane.after]).toEqual([false, 12]);
  lane.unwritten = 0;
  // It starts over: a delivery whose outcome could not be stored is sent again.
  expect([lane.wantsMore, lane.after]).toEqual([true, 0]);
});

test('every tenth claim is the last one before the lane starts over', () => {
  const lane = busyLane();
  const wanted = Array.from({ length: 10 }, (_, index) => {
    while (lane.next() !== undefined);
    const { wantsMore } = lane;
    lane.add(deliveries(11 + 10 * index, 20 + 10 * index), 10);
    return wantsMore;
  });
  expect(wanted).toEqual([...Array.from({ length: 9 }, () => true), false]);
});

test('after its lease a lane sends nothing, and its deliveries are not claimed twice when the lease is renewed', () => {
  const lane = busyLane();
  const now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(now + 9500);
  lane.sending = 0;
  expect([lane.next(), lane.wantsMore]).toEqual([undefined, false]);
  lane.renewed(now + 9500);
  expect([lane.wantsMore, lane.after, lane.next()?.sequence]).toEqual([false, 10, 1]);
  clock.mockRestore();
});

test('outcomes that are not stored hold back the next claim', () => {
  const lane = busyLane();
  while (lane.next() !== undefined);
  lane.unwritten = 499;
  expect(lane.wantsMore).toBe(true);
  lane.unwritten = 500;
  expect(lane.wantsMore).toBe(false);
});

test('a lane that was dropped or whose lease has ended sends nothing and asks for nothing', () => {
  const lane = busyLane();
  lane.drop();
  expect([lane.next(), lane.length, lane.wantsMore, lane.signal.aborted]).toEqual([
    undefined,
    0,
    false,
    true,
  ]);
  const late = new Lane('hook_1', false, performance.now() - 10_000);
  late.add(deliveries(1, 1), 10);
  expect([late.next(), late.wantsMore]).toEqual([undefined, false]);
});
