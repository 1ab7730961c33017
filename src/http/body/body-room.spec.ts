import { RateLimited, Unavailable } from '../../common/errors/gateway-error.js';
import type { Settings } from '../../platform/settings/settings.js';
import { BodyRoom } from './body-room.js';

const LARGEST = 1_048_576;
/** The start of each body is not counted. */
const FREE = 65_536;

const room = (): BodyRoom =>
  new BodyRoom({
    current: { gateway: { max_body_bytes: 1024, max_message_body_bytes: LARGEST } },
  } as unknown as Settings);

const thrown = (work: () => void): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

/** Bodies of one caller that take half of the room for eight. */
const half = (of: BodyRoom, caller: string) =>
  Array.from({ length: 4 }, () => {
    const held = of.enter(caller);
    held.add(FREE + LARGEST);
    return held;
  });

test('a process has room for eight bodies of the largest size; the next one gets 503, whoever sends it', () => {
  const full = room();
  const [first] = half(full, 'ada');
  half(full, 'ben');
  const third = full.enter('cleo');
  expect(third.add(FREE)).toBe(false);
  const refusal = thrown(() => third.add(1));
  expect(refusal).toBeInstanceOf(Unavailable);
  expect(refusal).toMatchObject({ status: 503, details: { reason: 'too_many_bodies' } });
  // Nothing was counted for the one that was refused, and room that is freed serves it.
  first?.release();
  expect(third.add(1)).toBe(true);
});

test('one caller gets half of it: 429 before the room is full', () => {
  const shared = room();
  half(shared, 'ada');
  const refusal = thrown(() => shared.enter('ada').add(FREE + 1));
  expect(refusal).toBeInstanceOf(RateLimited);
  expect(refusal).toMatchObject({ details: { reason: 'api_token_bodies' } });
  expect(shared.enter('ben').add(FREE + 1)).toBe(true);
});

test('room that is released is free again, once', () => {
  const shared = room();
  for (const held of half(shared, 'ada')) {
    held.release();
    held.release();
  }
  half(shared, 'ada');
  half(shared, 'ben');
  expect(thrown(() => shared.enter('cleo').add(FREE + 1))).toBeInstanceOf(Unavailable);
});

test('what comes after the release is refused: nobody would free it', () => {
  const shared = room();
  const held = shared.enter('ada');
  held.add(FREE + LARGEST);
  held.release();
  expect(thrown(() => held.add(1))).toMatchObject({ status: 400 });
  half(shared, 'ada');
});

test('callers without a token share a quarter of it, and a group of their addresses gets half of that', () => {
  const shared = room();
  const one = shared.enterStranger('192.0.2.0/24');
  one.add(FREE + LARGEST);
  expect(thrown(() => shared.enterStranger('192.0.2.0/24').add(FREE + 1))).toMatchObject({ status: 429 });
  shared.enterStranger('198.51.100.0/24').add(FREE + LARGEST);
  expect(thrown(() => shared.enterStranger('203.0.113.0/24').add(FREE + 1))).toMatchObject({ status: 503 });
  half(shared, 'ada');
  one.release();
  expect(shared.enterStranger('203.0.113.0/24').add(FREE + LARGEST)).toBe(true);
});
