import type { OfferedTools } from '../tools/offered-tools.js';
import type { ConnectionState } from './connection-state.js';
import type { McpSession } from './mcp-session.js';
import { ToolList } from './tool-list.js';

/** A server whose list of tools is what `names` says when it is asked; `asked` may hold the answer back. */
function serverWith(names: () => string[], asked = (): Promise<void> => Promise.resolve()) {
  const listTools = async () => {
    const tools = names().map((name) => ({ name, inputSchema: { type: 'object' as const } }));
    await asked();
    return tools;
  };
  return { listTools, giveUp: () => undefined } as unknown as McpSession;
}

function listFor(state: { session: McpSession | undefined }) {
  const seen: string[][] = [];
  const update = (definitions: readonly { name: string }[]): Promise<void> => {
    seen.push(definitions.map(({ name }) => name));
    return Promise.resolve();
  };
  const offered = { update, quarantined: [] } as unknown as OfferedTools;
  const list = new ToolList(offered, state as unknown as ConnectionState, () => Promise.resolve(false));
  return { list, seen };
}

const { signal } = new AbortController();

test('a change that is told before the connection is up is not lost', async () => {
  const state: { session: McpSession | undefined } = { session: undefined };
  let tools = ['one'];
  const session = serverWith(() => tools);
  const { list, seen } = listFor(state);
  await list.offer(session, signal);
  tools = ['one', 'two'];
  await list.refresh(session, signal);
  state.session = session;
  await list.catchUp(session, signal);
  await list.catchUp(session, signal);
  expect(seen).toEqual([['one'], ['one', 'two']]);
});

test('a change of the next connection is heard while the list of the last one still hangs', async () => {
  const state: { session: McpSession | undefined } = { session: undefined };
  let release: () => void = () => undefined;
  const old = serverWith(
    () => ['old'],
    () => new Promise((resolve) => (release = resolve)),
  );
  const next = serverWith(() => ['next']);
  const { list, seen } = listFor(state);
  state.session = old;
  const hanging = list.refresh(old, signal);
  state.session = next;
  await list.refresh(next, signal);
  expect(seen).toEqual([['next']]);
  release();
  await hanging;
});
