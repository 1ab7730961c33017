import { Logs } from '../../../platform/logging/logger.js';
import type { PromptSources, ToolPolicy } from '../../tools/tools.api.js';
import type { McpServers } from '../mcp-servers.service.js';
import { PromptCommands } from './prompt-commands.js';

const PROMPT = { command: 'travel-plan', name: 'plan', description: '', arguments: [] };
const context = { sessionId: 'sess_1', channel: 'api', userId: 'ada' };

function commands(getPrompt: (signal: AbortSignal) => Promise<{ content: string }>) {
  const warned: unknown[] = [];
  const servers = {
    findPrompt: () => ({ server: 'travel', prompt: PROMPT }),
    getPrompt: (_server: string, _name: string, _values: unknown, signal: AbortSignal) => getPrompt(signal),
  } as unknown as McpServers;
  const logs = { for: () => ({ warn: (...line: unknown[]) => warned.push(line) }) } as unknown as Logs;
  const policy = { allows: () => true } as unknown as ToolPolicy;
  const source = new PromptCommands(servers, {} as PromptSources, policy, logs);
  const question = { context, content: '/travel-plan', hasMemories: false };
  const ask = () => source.additionFor(question, new AbortController());
  return { warned, ask, source };
}

afterEach(() => jest.useRealTimers());

test('a prompt that takes too long is told to the model and logged, and its call is cancelled', async () => {
  jest.useFakeTimers();
  let isCancelled = false;
  const { ask, warned, source } = commands((signal) => {
    signal.addEventListener('abort', () => (isCancelled = true));
    return new Promise(() => undefined);
  });
  const asked = ask();
  await jest.advanceTimersByTimeAsync(20_000);
  expect((await asked)?.trailing).toMatch(/could not be had: It gave nothing within 20 seconds\. Say so\./);
  expect([isCancelled, warned.length]).toEqual([true, 1]);
  expect(source.maxMs).toBeGreaterThan(20_000);
});

test.each([
  ['has 100,000 characters', 'x'.repeat(100_000), false],
  ['has more', 'x'.repeat(100_001), true],
  ['has more bytes than the prompt of a turn takes', '字'.repeat(100_000), true],
])('a prompt that %s is cut and said to be: %s', async (_what, content, isCut) => {
  const { ask, warned } = commands(() => Promise.resolve({ content }));
  const { trailing = '' } = (await ask()) ?? {};
  expect([trailing.includes('[cut: the prompt has '), warned.length > 0]).toEqual([isCut, isCut]);
  expect(Buffer.byteLength(trailing)).toBeLessThan(262_144);
  expect(trailing).not.toContain('\uFFFD');
});
