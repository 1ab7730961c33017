import { InternalError } from '../../common/errors/gateway-error.js';
import { type EventSink, TurnFollower } from '../live/viewer.js';
import { type LiveEvent, LiveTurn, type TurnPosition } from './live-turn.js';

/** Takes a number of events, then no more until it is given room. */
class SlowSink implements EventSink {
  readonly taken: LiveEvent[] = [];
  readonly places: TurnPosition[] = [];
  constructor(private room = Number.POSITIVE_INFINITY) {}

  get isFull(): boolean {
    return this.taken.length >= this.room;
  }

  write(event: LiveEvent, _turnId: string, place: TurnPosition): void {
    this.taken.push(event);
    this.places.push(place);
  }

  give(room: number): void {
    this.room = this.taken.length + room;
  }

  said(): string {
    return this.taken.map((event) => (event.type === 'token' ? event.text : `<${event.type}>`)).join('');
  }
}

const token = (text: string): LiveEvent => ({ type: 'token', text });
const toolCall: LiveEvent = { type: 'tool_call', id: 'c1', name: 'clock', arguments: {} };
const failed: LiveEvent = { type: 'error', error: new InternalError('No.') };

async function isPending(promise: Promise<void> | undefined): Promise<boolean> {
  const word = await Promise.race([promise?.then(() => 'settled'), Promise.resolve('pending')]);
  return word === 'pending';
}

function follow(turn: LiveTurn, sink: SlowSink, from?: TurnPosition): TurnFollower {
  const follower = new TurnFollower(turn, sink, () => undefined, from);
  follower.wake();
  return follower;
}

test('a turn without followers is never held back', () => {
  const turn = new LiveTurn('sess', 'turn');
  expect(turn.publish(token('a'))).toBeUndefined();
});

test('a turn whose only reader is full waits until it has room', async () => {
  const turn = new LiveTurn('sess', 'turn');
  const sink = new SlowSink(1);
  const follower = follow(turn, sink);
  const held = turn.publish(token('a'));
  expect(held).toBeInstanceOf(Promise);
  expect(await isPending(held)).toBe(true);
  sink.give(5);
  follower.wake();
  await held;
});

test('the turn runs at the pace of its fastest reader; the slower one gets everything later, with tokens joined', () => {
  const turn = new LiveTurn('sess', 'turn');
  const slow = new SlowSink(1);
  const fast = new SlowSink();
  const slowFollower = follow(turn, slow);
  follow(turn, fast);
  for (const text of ['a', 'b', 'c', 'd']) expect(turn.publish(token(text))).toBeUndefined();
  expect([slow.said(), fast.said()]).toEqual(['a', 'abcd']);
  slow.give(1);
  slowFollower.wake();
  expect(slow.taken).toEqual([token('a'), token('bcd')]);
});

test('a reader that leaves, and a turn that is aborted, hold nothing back', async () => {
  const abort = new AbortController();
  const turn = new LiveTurn('sess', 'turn', abort.signal);
  const follower = follow(turn, new SlowSink(0));
  const held = turn.publish(token('a'));
  follower.stop();
  await held;
  follow(turn, new SlowSink(0));
  const heldAgain = turn.publish(token('b'));
  expect(await isPending(heldAgain)).toBe(true);
  abort.abort();
  await heldAgain;
});

test('a reader that resumes gets exactly what follows, wherever the tokens were cut', () => {
  const turn = new LiveTurn('sess', 'turn');
  for (const event of [token('Hel'), token('lo '), toolCall, token('world'), failed])
    void turn.publish(event);
  const whole = 'Hello <tool_call>world<error>';
  const sink = new SlowSink();
  follow(turn, sink);
  expect(sink.said()).toBe(whole);
  for (const [index, place] of sink.places.entries()) {
    const rest = new SlowSink();
    follow(turn, rest, place);
    const before = sink.taken
      .slice(0, index + 1)
      .map((event) => (event.type === 'token' ? event.text : `<${event.type}>`));
    expect(before.join('') + rest.said()).toBe(whole);
  }
  const middle = new SlowSink();
  follow(turn, middle, { chars: 4, steps: 0 });
  expect(middle.said()).toBe('o <tool_call>world<error>');
});

test('a reader that saw the end gets nothing more', () => {
  const turn = new LiveTurn('sess', 'turn');
  void turn.publish(token('a'));
  void turn.publish(failed);
  const sink = new SlowSink();
  follow(turn, sink, turn.end);
  expect(sink.taken).toEqual([]);
});
