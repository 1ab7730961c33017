import type { Client } from '@modelcontextprotocol/client';
import { promptsOf, type ServerPrompt, withOwnCommands } from './server-prompt.js';

const prompt = (command: string, name: string): ServerPrompt => ({
  ...{ command, name, description: '', arguments: [] },
});
const named = (servers: Record<string, ServerPrompt[]>) =>
  Object.fromEntries(
    [...withOwnCommands(new Map(Object.entries(servers)))].map(([server, prompts]) => [
      server,
      prompts.map(({ command }) => command),
    ]),
  );

test('prompts that share a command, of two servers or of one, all get commands of their own', () => {
  const a = prompt('a-b-c', 'b-c');
  const other = prompt('a-b-c', 'c');
  const twin = prompt('a-b-c', 'B-c');
  const commands = named({ a: [a, twin, prompt('a-d', 'd')], 'a-b': [other] });
  expect(commands).toEqual({
    a: [expect.stringMatching(/^a-b-c-[0-9a-f]{8}$/), expect.stringMatching(/^a-b-c-[0-9a-f]{8}$/), 'a-d'],
    'a-b': [expect.stringMatching(/^a-b-c-[0-9a-f]{8}$/)],
  });
  expect(new Set(Object.values(commands).flat()).size).toBe(4);
  // Whatever else is there, and in whichever order: people write the same.
  expect(named({ 'a-b': [other], a: [a] })['a']).toEqual([commands['a']?.[0]]);
  expect(named({ a: [a] })).toEqual({ a: ['a-b-c'] });
});

function listing(names: readonly string[], nextCursor?: string): Client {
  const prompts = names.map((name) => ({ name }));
  return {
    getServerCapabilities: () => ({ prompts: {} }),
    request: () => Promise.resolve({ prompts, nextCursor }),
  } as unknown as Client;
}

test.each<[string, string[], string | undefined, number, number]>([
  ['all are taken', ['a', 'b'], undefined, 2, 0],
  ['more than 200', Array.from({ length: 203 }, (_, at) => `p${at}`), undefined, 200, 3],
  ['a name that is too long', ['a', 'b'.repeat(129)], undefined, 1, 1],
  ['a list without end', ['a'], 'more', 1, 1],
])('how many prompts are left out is told: %s', async (_what, names, cursor, taken, leftOut) => {
  const found = await promptsOf(listing(names, cursor), 'srv', {});
  expect([found.prompts.length, found.leftOut]).toEqual([taken, leftOut]);
});
