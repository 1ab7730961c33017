import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { ProcessBench } from '../harness/gateway-process.js';
import { McpBench, say, scripted, serverB } from '../harness/mcp.js';

jest.setTimeout(120_000);

const processes = new ProcessBench();
let database: TestDatabase;
/** Two machines, each with its own folders. */
let benches: McpBench[];
let one: TestGateway;

const start = (bench: McpBench | undefined) => startTestGateway({ database, env: bench?.env ?? {} });
const connected = (gateway: TestGateway) =>
  eventually(async () => expect((await serverB(gateway, 'notes'))?.status).toBe('connected'));

beforeAll(async () => {
  database = await createTestDatabase();
  benches = await Promise.all(
    [1, 2].map((n) => McpBench.make({ notes: scripted(`erased-${n}-${process.pid}`) })),
  );
  one = await start(benches[0]);
  await connected(one);
});
afterAll(async () => {
  await one.stop();
  await Promise.all(benches.map((bench) => bench.clear()));
  await processes.clear();
  await database.drop();
});

const callFor = async (gateway: TestGateway, user: string, tool: string, text = '') =>
  (await say(gateway, `/call notes__${tool} ${JSON.stringify({ text })}`, { user_id: user })).tool_calls[0];

/** The user's folder, with a note in it. */
async function written(gateway: TestGateway, user: string): Promise<string> {
  expect((await callFor(gateway, user, 'touch', 'note.txt'))?.status).toBe('success');
  const { HOME: home } = JSON.parse((await callFor(gateway, user, 'env'))?.output ?? '') as { HOME: string };
  expect(existsSync(join(home, 'note.txt'))).toBe(true);
  return home;
}

test('"a folder of its user ... erased with the user": on all machines, also on one that was away, and not of others', async () => {
  const two = await start(benches[1]);
  await connected(two);
  const [here, away, bobs] = [
    await written(one, 'ada'),
    await written(two, 'ada'),
    await written(one, 'bob'),
  ];
  const pid = Number((await callFor(one, 'ada', 'pid'))?.output);
  await two.stop();
  const { code, stderr } = await processes.run(['user', 'erase', 'ada', '--yes'], {
    env: { DATABASE_URL: database.url, GATEWAY_MASTER_KEY: 'a master key that only tests may use' },
  });
  expect([code, stderr]).toEqual([0, expect.stringContaining('deleted')]);
  await eventually(() => expect([existsSync(here), isRunning(pid)]).toEqual([false, false]));
  expect([existsSync(bobs), existsSync(away)]).toEqual([true, true]);

  // A user who writes again is a new one, and keeps the new folder across restarts.
  const again = await written(one, 'ada');
  const back = await start(benches[1]);
  expect(existsSync(away)).toBe(false);
  await connected(back);
  await back.stop();
  await one.stop();
  one = await start(benches[0]);
  expect(existsSync(join(again, 'note.txt'))).toBe(true);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
