import { callOptions, collect, rejection } from '../../../../../test/harness/model-call.js';
import { ProviderFailed } from '../../../../common/errors/gateway-error.js';
import type { ModelEvent } from '../../model-provider.port.js';
import type { FaultClass } from './classify-fault.js';
import { DEFAULT_RETRY_POLICY, type RetryPolicy, streamWithRetries } from './stream-with-retries.js';

const end: ModelEvent = { type: 'end', finishReason: 'stop', usage: { input: 0, output: 0 }, model: 'm' };
const failure = new ProviderFailed('It failed.');

/** Attempts that fail until `succeedAt`; tells when each began, on a clock that only the test moves. */
function failing(succeedAt: number, judgement: Partial<FaultClass> = {}, policy: Partial<RetryPolicy> = {}) {
  const begunAt: number[] = [];
  const events = streamWithRetries(
    {
      provider: 'test',
      policy: { ...DEFAULT_RETRY_POLICY, ...policy },
      async *attempt() {
        begunAt.push(performance.now());
        if (begunAt.length < succeedAt) throw new Error('once more');
        yield end;
      },
      classify: () => ({ error: failure, retryable: true, ...judgement }),
    },
    callOptions(),
  );
  return { events, begunAt };
}

function waits(begunAt: readonly number[]): number[] {
  return begunAt.slice(1).map((at, index) => at - (begunAt[index] ?? 0));
}

describe('attempts', () => {
  it('back off with full jitter, doubling up to the longest delay', async () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(1);
    const { events, begunAt } = failing(6, {}, { maxRetries: 5, baseDelayMs: 20, maxDelayMs: 100 });
    expect(await collect(events)).toEqual([end]);
    const shortest = [20, 40, 80, 100, 100];
    waits(begunAt).forEach((wait, index) => {
      expect(wait).toBeGreaterThan((shortest[index] ?? 0) - 5);
    });
    expect(begunAt).toHaveLength(6);
    random.mockReturnValue(0);
    const hasty = failing(6, {}, { maxRetries: 5, baseDelayMs: 60_000 });
    expect(await collect(hasty.events)).toEqual([end]);
    random.mockRestore();
  });

  it('never start before the provider allows them', async () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(0);
    const { events, begunAt } = failing(2, { retryAfterMs: 80 });
    await collect(events);
    expect(waits(begunAt)[0]).toBeGreaterThan(75);
    random.mockRestore();
  });

  it.each([
    ['the retries are used up', { maxRetries: 0 }, {}],
    ['the provider wants too long a wait', { maxRetries: 5 }, { retryAfterMs: 30_001 }],
    ['another attempt would not help', { maxRetries: 5 }, { retryable: false }],
  ])('end with the failure when %s', async (_, policy, judgement) => {
    const { events, begunAt } = failing(9, judgement, policy);
    expect(await rejection(collect(events))).toBe(failure);
    expect(begunAt).toHaveLength(1);
  });

  it('are not started by a call that no one reads', async () => {
    const { events, begunAt } = failing(1);
    await events.return?.();
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(begunAt).toHaveLength(0);
  });

  it('end when the consumer leaves during a pause', async () => {
    const { events, begunAt } = failing(2, { retryAfterMs: 20_000 });
    const pending = events.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await events.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(begunAt).toHaveLength(1);
  });

  it('end when the consumer leaves while it waits for the second event', async () => {
    const events = streamWithRetries(
      {
        provider: 'test',
        policy: DEFAULT_RETRY_POLICY,
        async *attempt({ signal }) {
          yield end;
          await new Promise((_, reject) => signal.addEventListener('abort', reject));
        },
        classify: () => ({ error: failure, retryable: true }),
      },
      callOptions(),
    );
    const asked = [events.next(), events.next()];
    expect(await asked[0]).toEqual({ done: false, value: end });
    await events.return?.();
    expect(await asked[1]).toEqual({ done: true, value: undefined });
  });
});
