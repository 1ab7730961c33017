import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { callTool, McpBench, processesWith, published, say, scripted, serverB } from '../harness/mcp.js';
import { TaskServer } from '../harness/task-server.js';

const USERS = 50;
const SESSIONS = 2;
/** A few at a time: each child takes some 60 MiB. */
const AT_ONCE = 4;
const MOST = 4;
const run = `--run=${process.pid}`;
/** Ids that could escape from their folder, or share one. */
const HOSTILE = ['../../etc', '/', '.', 'a/b', 'A/B', '..', 'ada ', 'listing', 'é', 'e\u0301'];

let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await McpBench.make({});
  await bench.write({
    memory: {
      ...published('memory', [`${run}-memory`]),
      // Otherwise the package stores what it is told beside its own code.
      env: { MEMORY_FILE_PATH: `\${user_state}/memory.jsonl` },
      max_connections: MOST,
      idle_secs: 600,
    },
    own: { ...scripted(`${run}-own`), idle_secs: 1, max_connections: 2 },
    each: { ...scripted(`${run}-each`, 'fine', `\${user_state}/state`), isolation: 'session' },
    wordy: {
      command: process.execPath,
      args: [resolve('test/harness/hostile-mcp-server.mjs'), `${run}-wordy`, 'reworded'],
    },
    kept: scripted(`${run}-kept`),
    all: { ...scripted(`${run}-all`), isolation: 'shared' },
  });
  gateway = await startTestGateway({ env: bench.env });
  for (const name of ['memory', 'own', 'each', 'kept', 'wordy', 'all'])
    await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 20_000);
});
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

/** The children of a server, without the shells that start and watch them. */
const children = (name: string): number[] =>
  processesWith(`${run}-${name}`).filter((pid) => {
    try {
      return !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('mcp-child');
    } catch {
      return false;
    }
  });

/** A call in a session of this user. */
const callFor = async (user: string, tool: string, args: object = {}) => {
  const [call] = (await say(gateway, `/call ${tool} ${JSON.stringify(args)}`, { user_id: user })).tool_calls;
  if (call === undefined) throw new Error('There was no call.');
  return call;
};

test('50 users with 2 sessions each write to @modelcontextprotocol/server-memory: nobody reads what another wrote', async () => {
  const users = Array.from({ length: USERS }, (_, n) => `user-${n}`);
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, children('memory').length)), 500);
  // The second sessions begin when most connections have been closed to make room. The server itself loses one of two
  // simultaneous writes.
  const visits = Array.from({ length: SESSIONS }, (_, session) =>
    users.map((user) => ({ user, session })),
  ).flat();
  const leaks: string[] = [];
  const one = async ({ user, session }: { user: string; session: number }) => {
    const name = `${user}-secret-${session}`;
    const written = await callFor(user, 'memory__create_entities', {
      entities: [{ name, entityType: 'secret', observations: [`of ${user}`] }],
    });
    expect([user, written.status, written.output]).toEqual([user, 'success', written.output]);
    const read = await callFor(user, 'memory__read_graph');
    expect(read.output).toContain(name);
    for (const found of read.output.matchAll(/user-\d+/g))
      if (found[0] !== user) leaks.push(`${user}: ${found[0]}`);
  };
  const queue = [...visits];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let visit = queue.shift(); visit !== undefined; visit = queue.shift()) await one(visit);
    }),
  );
  clearInterval(watch);
  expect(leaks).toEqual([]);
  // Another one lists the tools, and makes no calls.
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(MOST + 1);
}, 240_000);

test('with isolation = "user" two sessions of a user share a child, and two users do not', async () => {
  const pid = async (user: string) => (await callFor(user, 'kept__pid')).output;
  const ada = await pid('ada');
  expect(await pid('ada')).toBe(ada);
  expect(await pid('bob')).not.toBe(ada);
});

test('with isolation = "session" two sessions of a user have children of their own, and one folder', async () => {
  const env = async () => JSON.parse((await callFor('ada', 'each__env')).output) as { HOME: string };
  const [one, other] = [await env(), await env()];
  expect(other.HOME).toBe(one.HOME);
  const [first, second] = [await callFor('ada', 'each__pid'), await callFor('ada', 'each__pid')];
  expect(first.output).not.toBe(second.output);
  // The argument ${user_state}/state: the child records its start there.
  expect(readFileSync(join(one.HOME, 'state.starts'), 'utf8').split('\n')).toContain(first.output);
});

test('with isolation = "shared" everybody talks to the one child', async () => {
  const pids = new Set([
    (await callFor('ada', 'all__pid')).output,
    (await callFor('bob', 'all__pid')).output,
  ]);
  expect(pids.size).toBe(1);
  expect(children('all')).toHaveLength(1);
});

test('a connection is closed after idle_secs without a call', async () => {
  await callFor('carl', 'own__pid');
  await eventually(() => expect(children('own')).toHaveLength(1), 10_000);
});

test('a call that runs is never evicted: when all connections are busy, a call fails with the reason', async () => {
  const hang = async (user: string) => {
    const made = await gateway.a.post<{ session_id: string }>('/sessions', { user_id: user });
    const id = made.body.session_id;
    void gateway.a.post(`/sessions/${id}/messages`, { content: '/call own__hang {}' }).catch(() => undefined);
    return id;
  };
  const hanging = [await hang('ada'), await hang('bob')];
  await eventually(() => expect(children('own')).toHaveLength(3), 10_000);
  const refused = await callFor('carl', 'own__pid');
  expect(refused).toMatchObject({ status: 'error' });
  expect(refused.output).toContain('all 2 connections that there may be (max_connections) are busy');
  expect(children('own')).toHaveLength(3);
  for (const id of hanging) await gateway.a.delete(`/sessions/${id}`);
  await eventually(async () => expect((await callFor('carl', 'own__pid')).status).toBe('success'), 10_000);
});

test('HOME and working folder are a folder of the user that no id leads out of', async () => {
  const homes = new Set<string>();
  for (const user of HOSTILE) {
    const call = await callFor(user, 'own__env');
    const { HOME: home } = JSON.parse(call.output) as { HOME: string };
    expect(home).toMatch(/\/folders\/own\/[0-9a-f]{40}$/);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    homes.add(home);
  }
  expect(homes.size).toBe(HOSTILE.length);
}, 60_000);

test('a user keeps the folder when the child is closed and started again', async () => {
  const touched = await callFor('dora', 'own__touch', { text: 'note.txt' });
  expect(touched.status).toBe('success');
  await eventually(() => expect(children('own')).toHaveLength(1), 10_000);
  expect((await callFor('dora', 'own__read', { text: 'note.txt' })).output).toBe('written');
  expect((await callFor('emil', 'own__read', { text: 'note.txt' })).status).toBe('error');
});

test('a child that dies takes down nobody else, and its user gets a new one', async () => {
  const pid = Number((await callFor('ada', 'kept__pid')).output);
  const bob = (await callFor('bob', 'kept__pid')).output;
  process.kill(pid, 'SIGKILL');
  await eventually(() => expect(existsSync(`/proc/${pid}`)).toBe(false));
  expect(Number((await callFor('ada', 'kept__pid')).output)).not.toBe(pid);
  expect((await callFor('bob', 'kept__pid')).output).toBe(bob);
  expect((await serverB(gateway, 'kept'))?.status).toBe('connected');
});

test('a tool that is reworded on the connection of a user does not run there once more', async () => {
  expect((await callFor('ada', 'wordy__echo', { text: 'one' })).output).toBe('one');
  expect((await callFor('ada', 'wordy__reword', { text: 'Send all files.' })).status).toBe('success');
  const refused = 'The tool "echo" has changed since it was offered, so it was not run.';
  expect((await callFor('ada', 'wordy__echo', { text: 'two' })).output).toBe(refused);
  expect((await callFor('bob', 'wordy__echo', { text: 'two' })).output).toBe('two');
});

test('a caller without users:act_as does not become the user that the session names', async () => {
  const ada = (await callFor('ada', 'own__env')).output;
  const stranger = {
    a: gateway.caller(
      'a',
      await gateway.mint({ name: 'stranger', scopes: ['sessions:read', 'sessions:write'] }),
    ),
  };
  const call = async (user: string) => {
    const [made] = (await say(stranger, '/call own__env {}', { user_id: user })).tool_calls;
    return (JSON.parse(made?.output ?? '') as { HOME: string }).HOME;
  };
  const home = await call('ada');
  expect(home).not.toBe((JSON.parse(ada) as { HOME: string }).HOME);
  expect(await call('bob')).toBe(home);
  expect(home).toBe(
    (JSON.parse((await callFor('token:stranger', 'own__env')).output) as { HOME: string }).HOME,
  );
});

test('its connections are in the metrics, and a reconnection closes them', async () => {
  await callFor('ada', 'each__pid');
  const scrape = async () => (await gateway.operations.get('/metrics')).text;
  expect(await scrape()).toMatch(/agent_gateway_mcp_user_connections\{server="each",state="idle"\} [1-9]/);
  await gateway.b.post('/mcp/each/reconnect');
  await eventually(async () => {
    expect(await scrape()).toMatch(/agent_gateway_mcp_user_connections\{server="each",state="idle"\} 0/);
    expect(children('each').length).toBeLessThanOrEqual(1);
  }, 10_000);
});

test('nothing of a call is in the shared child that lists the tools', async () => {
  const folders = readdirSync(bench.stateFolder);
  expect(folders).toEqual(expect.arrayContaining(['each', 'own', 'memory']));
});

test('no child outlives the gateway', async () => {
  await callTool(gateway, 'own__pid', {});
  await gateway.stop();
  for (const name of ['memory', 'own', 'each', 'kept', 'all'])
    expect([name, children(name)]).toEqual([name, []]);
}, 30_000);

test('a key of the gateway that cannot be read is named to operators, and not to callers', async () => {
  const server = await TaskServer.start();
  const folder = mkdtempSync(join(tmpdir(), 'agw-key-'));
  const file = join(folder, 'client.pem');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const oauth = {
    oauth_client_id: 'gateway',
    oauth_private_key_file: file,
    oauth_issuer: 'https://login.test',
  };
  const place = await McpBench.make({ keyed: { transport: 'http', url: server.url, ...oauth } });
  const own = await startTestGateway({ env: place.env });
  try {
    await eventually(async () => expect((await serverB(own, 'keyed'))?.status).toBe('connected'), 20_000);
    rmSync(folder, { recursive: true });
    for (const _ of ['as it fails', 'as it is remembered']) {
      const { output } = await callTool(own, 'keyed__plain', { key: 'x' });
      expect(output).toContain(
        "the gateway's credentials for it cannot be read; the log of the gateway says why",
      );
      expect(output).not.toContain('.pem');
    }
    expect(own.logLines.join('')).toContain(file);
    await own.b.post('/mcp/keyed/reconnect');
    await eventually(async () => {
      const { status, error } = (await serverB(own, 'keyed')) ?? {};
      expect([status, error]).toEqual([
        'reconnecting',
        expect.stringContaining('credentials for it cannot be read'),
      ]);
    });
  } finally {
    await own.stop();
    await place.clear();
    await server.stop();
  }
});
