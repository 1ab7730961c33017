import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { RemoteCommandLine, type RunningCommand } from '../harness/remote-command-line.js';

const TIMEOUT_MS = 60_000;

let gateway: TestGateway;
let running: RunningCommand | undefined;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__LOGGING__LEVEL: 'debug' } });
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
});
afterAll(() => gateway.stop());

const opened = async (body: object = {}): Promise<string> =>
  (await gateway.b.post<{ id: string }>('/sessions', body)).body.id;
const say = (id: string, content: string) => gateway.b.post(`/sessions/${id}/messages`, { content });

describe.each(['a', 'b'] as const)('logs, at the port of Profile %s', (profile) => {
  const line = () => new RemoteCommandLine(gateway, profile);

  test('prints the newest lines, oldest first, and an object with --json', async () => {
    // Each logs a line.
    await Promise.all([opened(), opened()]);
    await eventually(async () => {
      const { code, stdout } = await line().call('logs', '--since', '1h', '--limit', '500');
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z {2}info {3}\S+ {2}\S/m),
      ]);
    }, TIMEOUT_MS);
    await eventually(async () => {
      const { entries } = await line().json<{ entries: { timestamp: string; level: string }[] }>(
        ...['logs', '--limit', '2', '--level', 'info'],
      );
      expect(entries.map(({ level }) => level !== 'debug')).toEqual([true, true]);
    }, TIMEOUT_MS);
  });

  test('says that there are none, and what it does not take', async () => {
    const none = await line().call('logs', '--module', 'no_such_module');
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'There are no such lines.\n' });
    expect((await line().call('logs', '--level', 'loud')).code).toBe(2);
    expect((await line().call('logs', '--since', 'yesterday evening')).code).toBe(2);
  });

  test('-f goes on with new lines, each once, and ends well when it is stopped', async () => {
    running = line().follow('logs', '-f', '--level', 'debug', '--since', '1m', '--json');
    const seen = () =>
      (running?.stdout ?? '').split('\n').flatMap((text) => (text === '' ? [] : [JSON.parse(text) as Line]));
    await eventually(() => expect(seen()).not.toHaveLength(0), TIMEOUT_MS);
    const id = await opened();
    await say(id, 'Hello');
    await eventually(
      () => expect(seen().filter(({ session_id }) => session_id === id)).not.toHaveLength(0),
      TIMEOUT_MS,
    );
    const { code, stderr } = await running.stop();
    expect([code, stderr]).toEqual([0, '']);
    const mine = seen().filter(({ session_id }) => session_id === id);
    expect(new Set(mine.map((one) => JSON.stringify(one))).size).toBe(mine.length);
  });
});

interface Line {
  readonly session_id?: string;
}

test('logs needs the scope logs:read', async () => {
  const AGENT_GATEWAY_TOKEN = await gateway.mint({ name: 'poor', scopes: ['sessions:read'] });
  const line = new RemoteCommandLine(gateway);
  const variables = { ...line.variables, AGENT_GATEWAY_TOKEN };
  for (const args of [['logs'], ['logs', '-f']])
    expect(await line.callWith({ variables }, ...args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('logs:read') as string,
    });
});

describe('sessions watch', () => {
  const line = () => new RemoteCommandLine(gateway);

  test('prints the turns of a session as they happen, with their calls of tools', async () => {
    const id = await opened({ user_id: 'ada' });
    running = line().follow('sessions', 'watch', id);
    // The viewer must be connected before the event.
    await eventually(async () => {
      await say(id, 'Hello');
      expect(running?.stdout).toContain('No model is configured');
    }, TIMEOUT_MS);
    await say(id, '/call memory_store {"content": "I was watched"}');
    await eventually(() => expect(running?.stderr).toContain('[memory_store: done]'), TIMEOUT_MS);
    expect(running.stderr).toContain('[calls memory_store {"content":"I was watched"}]');
    expect((await running.stop()).code).toBe(0);
  });

  test('prints each event as an object with --json', async () => {
    const id = await opened();
    running = line().follow('sessions', 'watch', id, '--json');
    const events = () =>
      (running?.stdout ?? '')
        .split('\n')
        .flatMap((text) => (text === '' ? [] : [(JSON.parse(text) as { event: string }).event]));
    await eventually(async () => {
      await say(id, 'Hello');
      expect(events()).toEqual(expect.arrayContaining(['token', 'done']));
    }, TIMEOUT_MS);
  });

  test('of a session that there is not, it says so', async () => {
    expect(await line().call('sessions', 'watch', 'sess_x')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/session/i) as string,
    });
  });
});
