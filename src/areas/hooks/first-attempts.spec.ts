import { silentLogs } from '../../platform/logging/logger.js';
import { FixedSettings } from '../../platform/settings/settings.js';
import { settingsSchema } from '../../platform/settings/settings.schema.js';
import type { Delivery, Outcome } from './delivery.js';
import type { DeliverySender } from './delivery-sender.js';
import { FirstAttempts } from './first-attempts.js';
import type { HookStore } from './hook.store.js';
import type { ClaimingLane, LaneStore, NextDeliveries } from './lane.store.js';
import type { OutcomeRecorder } from './outcome-recorder.js';

const HOOK = 'hook_1';
const settled = () => new Promise(setImmediate);

/** One hook with this many deliveries, whose receiver answers when the test says so. */
class World {
  readonly sent: number[] = [];
  readonly asked: number[] = [];
  /** Whether the row in the table has an owner. */
  isTaken = false;
  /** Whether another statement has locked the row in the table. */
  isLocked = false;
  private readonly answers: ((outcome: Outcome | undefined) => void)[] = [];
  private readonly writes: (() => void)[] = [];
  private readonly unsent: Set<number>;
  readonly firsts: FirstAttempts;

  constructor(deliveries: number) {
    this.unsent = new Set(Array.from({ length: deliveries }, (_, index) => index + 1));
    const store = {
      claim: () => this.take(),
      next: (lanes: ClaimingLane[], most: number) => this.next(lanes, most),
      renew: () => Promise.resolve({ renewed: new Set([HOOK]), locked: new Set() }),
      release: () => this.release(),
    };
    const sender = { attempt: (delivery: Delivery, signal: AbortSignal) => this.attempt(delivery, signal) };
    const recorder = { record: (outcome: Outcome) => this.record(outcome) };
    this.firsts = new FirstAttempts(
      store as unknown as LaneStore,
      { activeAmong: (hookIds: string[]) => Promise.resolve(new Set(hookIds)) } as unknown as HookStore,
      sender as unknown as DeliverySender,
      recorder as unknown as OutcomeRecorder,
      new FixedSettings(settingsSchema.parse({})),
      silentLogs,
    );
  }

  /** The receiver answers at most this many requests. */
  async answer(most: number, gone = false): Promise<void> {
    for (let answered = 0; answered < most; answered += 1) {
      const answer = this.answers.shift();
      if (answer === undefined) return;
      answer({ deliveryId: String(this.sent.at(-1)), gone } as Outcome);
      await settled();
    }
  }

  async writeAll(): Promise<void> {
    for (const write of this.writes.splice(0)) write();
    await settled();
  }

  private take() {
    const taken = this.isTaken ? [] : [{ hookId: HOOK, failing: false }];
    this.isTaken = true;
    return Promise.resolve({ claimed: taken, freeInMs: null });
  }

  private release(): Promise<boolean> {
    this.isTaken = false;
    return Promise.resolve(false);
  }

  private next([lane]: ClaimingLane[], most: number): Promise<NextDeliveries> {
    const after = lane?.after ?? 0;
    this.asked.push(after);
    const found = [...this.unsent].filter((sequence) => sequence > after).slice(0, most);
    const deliveries = found.map(
      (sequence) => ({ id: String(sequence), hookId: HOOK, sequence }) as Delivery,
    );
    const map = new Map(found.length > 0 ? [[HOOK, deliveries]] : []);
    return Promise.resolve(
      this.isLocked ? { deliveries: new Map(), seen: new Set() } : { deliveries: map, seen: new Set([HOOK]) },
    );
  }

  private attempt({ sequence }: Delivery, signal: AbortSignal): Promise<Outcome | undefined> {
    this.sent.push(sequence);
    return new Promise((resolve) => {
      const broken = (): void => resolve(undefined);
      signal.addEventListener('abort', broken);
      this.answers.push((outcome) => {
        signal.removeEventListener('abort', broken);
        resolve(outcome);
      });
    });
  }

  private record({ deliveryId }: Outcome): Promise<void> {
    return new Promise((done) =>
      this.writes.push(() => {
        this.unsent.delete(Number(deliveryId));
        done();
      }),
    );
  }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

afterEach(() => jest.restoreAllMocks());

function passTime(ms: number): void {
  const now = performance.now() + ms;
  jest.spyOn(performance, 'now').mockReturnValue(now);
}

test('more deliveries are claimed before the claimed ones run out', async () => {
  const world = new World(600);
  await world.firsts.pass();
  await world.answer(300);
  await world.firsts.pass();
  await world.answer(1000);
  expect(world.sent).toEqual(numbers(1, 600));
  expect(world.asked).toEqual([0, 500]);
});

test('a lane whose lease ran out and was renewed continues where it was', async () => {
  const world = new World(20);
  await world.firsts.pass();
  passTime(1600);
  await world.answer(1000);
  await world.writeAll();
  expect(world.sent).toEqual([1]);
  await world.firsts.pass();
  await world.answer(1000);
  expect(world.sent).toEqual(numbers(1, 20));
});

test('a lane that is claimed again waits while outcomes of it are not stored', async () => {
  const world = new World(20);
  await world.firsts.pass();
  passTime(1600);
  await world.answer(1000);
  // The lease ran out in the table too, and the renewal is not due: the next look finds the row free.
  world.isTaken = false;
  await world.firsts.pass();
  await world.answer(1000);
  expect(world.sent).toEqual([1]);
  await world.writeAll();
  for (let pass = 0; pass < 3; pass += 1) await world.firsts.pass();
  await world.answer(1000);
  expect(world.sent).toEqual(numbers(1, 20));
});

test('a receiver that answered 410 is sent nothing more', async () => {
  const world = new World(20);
  await world.firsts.pass();
  await world.answer(20, true);
  expect(world.sent).toEqual([1]);
});

test('at a stop the delivery on its way may arrive, and nothing else is sent', async () => {
  const world = new World(20);
  await world.firsts.pass();
  world.firsts.finish();
  await world.answer(1000);
  expect([world.sent, world.firsts.isIdle]).toEqual([[1], false]);
  await world.writeAll();
  expect(world.firsts.isIdle).toBe(true);
});

test('a lane that another statement has locked is skipped, reported as such, and served when it is free', async () => {
  const world = new World(3);
  world.isLocked = true;
  expect(await world.firsts.pass()).toMatchObject({ foundAny: false, passedOver: true });
  world.isLocked = false;
  expect(await world.firsts.pass()).toMatchObject({ foundAny: true, passedOver: false });
  await world.answer(3);
  expect(world.sent).toEqual([1, 2, 3]);
});

test('at a stop a lane is released as soon as no delivery of it is on its way', async () => {
  const world = new World(20);
  await world.firsts.pass();
  world.firsts.finish();
  await world.firsts.releaseIdle();
  expect(world.isTaken).toBe(true);
  await world.answer(1);
  await world.writeAll();
  await world.firsts.releaseIdle();
  expect(world.isTaken).toBe(false);
});
