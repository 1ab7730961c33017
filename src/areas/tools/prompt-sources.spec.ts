import { Logs } from '../../platform/logging/logger.js';
import { type PromptSource, PromptSources } from './prompt-sources.js';

const question = {
  context: { sessionId: 'sess_1', channel: 'api', userId: 'ada' },
  content: 'What is the weather?',
  hasMemories: false,
};
const patient = new AbortController().signal;

function source(name: string, additionFor: PromptSource['additionFor']): PromptSource {
  return { name, additionFor };
}

function sourcesOf(...list: PromptSource[]) {
  const warnings: unknown[] = [];
  const warn = (_: string, fields?: unknown): void => void warnings.push(fields);
  const logs = { for: () => ({ warn }) } as unknown as Logs;
  const sources = new PromptSources(logs);
  for (const one of list) sources.add(one);
  return { sources, warnings };
}

describe('what other parts add to the system prompt', () => {
  afterEach(() => jest.useRealTimers());

  it('comes in the order in which they were added, however long each takes', async () => {
    const { sources, warnings } = sourcesOf(
      source('slow', async ({ content }) => {
        await new Promise((done) => setTimeout(done, 20));
        return { trailing: `slow: ${content}` };
      }),
      source('silent', () => undefined),
      source('empty', () => Promise.resolve({ system: '', trailing: '' })),
      source('quick', ({ context }) => ({ system: 'always', trailing: `quick: ${context.userId}` })),
    );

    expect(await sources.additions(question, patient)).toEqual({
      system: ['always'],
      trailing: ['slow: What is the weather?', 'quick: ada'],
    });
    expect(warnings).toEqual([]);
  });

  it('is left out and logged when a source throws, rejects, is late or returns too much', async () => {
    jest.useFakeTimers();
    let lateSignal: AbortSignal | undefined;
    const { sources, warnings } = sourcesOf(
      source('throws', () => {
        throw new Error('broken');
      }),
      source('rejects', () => Promise.reject(new Error('database gone'))),
      source('late', (_, { signal }) => {
        lateSignal = signal;
        return new Promise(() => undefined);
      }),
      source('long', () => Promise.resolve({ system: 'x'.repeat(262_000), trailing: 'x'.repeat(145) })),
      source('fine', () => Promise.resolve({ trailing: 'fine' })),
    );

    const asked = sources.additions(question, patient);
    await jest.advanceTimersByTimeAsync(2000);
    expect(await asked).toEqual({ system: [], trailing: ['fine'] });
    expect(lateSignal?.aborted).toBe(true);
    expect(warnings).toHaveLength(4);
    expect(warnings).toEqual(
      expect.arrayContaining([
        { source: 'throws', reason: 'broken' },
        { source: 'rejects', reason: 'database gone' },
        { source: 'late', reason: 'nothing within 2000 ms' },
        { source: 'long', reason: 'more than 262144 bytes' },
      ]),
    );
  });

  it('is not waited for once the turn is aborted, which is not a failure of the source', async () => {
    const turn = new AbortController();
    const { sources, warnings } = sourcesOf(source('late', () => new Promise(() => undefined)));

    const asked = sources.additions(question, turn.signal);
    turn.abort(new Error('cancelled'));

    await expect(asked).rejects.toThrow('cancelled');
    expect(warnings).toEqual([]);
  });
});
