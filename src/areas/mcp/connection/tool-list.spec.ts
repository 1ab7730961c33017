import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseAway } from '../../../platform/database/database-failure.js';
import type { OfferedTools } from '../tools/offered-tools.js';
import { listingOf, type ToolListing } from '../tools/tool-listing.js';
import type { ConnectionState } from './connection-state.js';
import type { McpSession } from './mcp-session.js';
import { ToolList } from './tool-list.js';

/** A server that lists `names()`; `asked` may delay its response. */
function serverWith(names: () => string[], asked = (): Promise<void> => Promise.resolve()) {
  const listTools = async () => {
    const tools = names().map((name) => ({ name, inputSchema: { type: 'object' as const } }));
    await asked();
    return listingOf(tools, 0);
  };
  return { listTools, giveUp: () => undefined } as unknown as McpSession;
}

function listFor(state: { session: McpSession | undefined }) {
  const seen: string[][] = [];
  const update = ({ definitions }: ToolListing): Promise<void> => {
    seen.push(definitions.map(({ name }) => name));
    return Promise.resolve();
  };
  const offered = { update, quarantined: [] } as unknown as OfferedTools;
  const isUp = (): boolean => state.session !== undefined;
  const all = Object.assign(state, { isUp }) as unknown as ConnectionState;
  const list = new ToolList(offered, all, () => Promise.resolve(false));
  return { list, seen };
}

const { signal } = new AbortController();

test('a change that is announced before the connection is up is not lost', async () => {
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

test('a change of the next connection is processed while the list of the last one still hangs', async () => {
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

test('a list that the database cannot be asked about is asked about again, and its server keeps the session', async () => {
  const told: string[] = [];
  const failures = [new DatabaseAway('away'), new DatabaseAway('still away')];
  const update = (): Promise<void> => {
    told.push(String(list.isTaking));
    const failure = failures.pop();
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  };
  const giveUp = jest.fn();
  const session = Object.assign(
    serverWith(() => ['one']),
    { giveUp },
  );
  const state = { session, isUp: () => true, awaitsDatabase: () => told.push('said') };
  const [offered, all] = [{ update }, state] as unknown as [OfferedTools, ConnectionState];
  const list = new ToolList(offered, all, () => Promise.resolve(false));
  await list.refresh(session, signal);
  expect([told, list.isTaking]).toEqual([['true', 'said', 'true', 'true'], false]);
  expect(giveUp).not.toHaveBeenCalled();
  // What ends the session ends the waiting.
  failures.push(new DatabaseAway('away'));
  const gone = Object.assign(session, { fault: new Error('gone') });
  await expect(list.offer(gone, signal)).rejects.toThrow('gone');
});

test('calls wait from the announcement of a change until the list is processed', async () => {
  const state: { session: McpSession | undefined } = { session: undefined };
  let release: () => void = () => undefined;
  const session = serverWith(
    () => ['one'],
    () => new Promise((resolve) => (release = resolve)),
  );
  const { list, seen } = listFor(state);
  state.session = session;
  await list.settled(signal);
  const refreshed = list.refresh(session, signal);
  let isSettled = false;
  const settled = list.settled(signal).then(() => (isSettled = true));
  await sleep(20);
  expect([isSettled, seen]).toEqual([false, []]);
  release();
  await Promise.all([refreshed, settled]);
  expect(seen).toEqual([['one']]);
});

test("waiting for the list ends with the caller's signal and with the connection", async () => {
  const state: { session: McpSession | undefined } = { session: undefined };
  let lose: (why: Error) => void = () => undefined;
  const session = serverWith(
    () => [],
    () => new Promise((_, reject) => (lose = reject)),
  );
  const { list } = listFor(state);
  state.session = session;
  void list.refresh(session, signal);
  await expect(list.settled(AbortSignal.timeout(10))).rejects.toMatchObject({ name: 'TimeoutError' });
  const settled = list.settled(signal);
  state.session = undefined;
  lose(new Error('the connection was closed'));
  await settled;
});
