import { join } from 'node:path';
import { ProcessBench, until } from '../harness/gateway-process.js';
import { HttpCaller } from '../harness/http-caller.js';

jest.setTimeout(120_000);

const bench = new ProcessBench();
afterAll(() => bench.clear());

interface History {
  readonly changes: readonly {
    readonly revision: number;
    readonly action: string;
    readonly actor: string;
    readonly keys: readonly { readonly key: string; readonly before: unknown; readonly after: unknown }[];
  }[];
}

test('config history, rollback and show --stored work beside a running gateway, which follows within 1.5 s', async () => {
  const folder = await bench.folder();
  const env = { GATEWAY_DATA_DIR: join(folder, 'data') };
  const gateway = await bench.serve({ env });
  const b = new HttpCaller(gateway.b, gateway.token);
  const command = (...args: string[]) => bench.run(['config', ...args], { env });
  const shown = async () => (await b.get<{ agent: object; provider: object }>('/config')).body;

  expect((await command('history')).stderr).toContain('Nothing was changed');
  const first = { 'agent.max_turns': 7, 'provider.kind': 'openai', 'provider.api_key': 'canary-of-history' };
  expect((await b.patch('/config', first)).status).toBe(200);
  expect((await b.patch('/config', { 'agent.max_turns': 8, provider: null })).status).toBe(200);

  const history = await command('history', '--json');
  expect(history.stdout).not.toContain('canary');
  const { changes } = JSON.parse(history.stdout) as History;
  expect(changes.map(({ revision, action, actor }) => [revision, action, actor])).toEqual([
    [2, 'patch', 'admin'],
    [1, 'patch', 'admin'],
  ]);
  expect(changes[0]?.keys).toContainEqual({ key: 'agent.max_turns', before: 7, after: 8 });
  expect(changes[1]?.keys).toContainEqual({ key: 'provider.api_key', before: null, after: '***REDACTED***' });
  expect((await command('history', '--limit', '1')).stdout).toMatch(
    /^ +2 {2}\S+ \S+Z {2}patch {5}admin: .*\n$/,
  );

  const undone = await command('rollback');
  expect(undone).toMatchObject({ code: 0, stderr: expect.stringContaining('provider.api_key') as string });
  await until(async () => JSON.stringify(await shown()).includes('***REDACTED***'), 1500);
  expect(await shown()).toMatchObject({ agent: { max_turns: 7 }, provider: { kind: 'openai' } });

  const { stdout } = await command('show', '--stored');
  expect(stdout).toContain('agent.max_turns = 7  # override');
  expect(stdout).toContain(
    'provider.api_key = "***REDACTED***"  # override; decides who may do what: a PATCH needs',
  );
  expect((await command('show')).stdout).toContain('agent.max_turns = 50  # default');

  expect((await command('rollback', '0')).code).toBe(0);
  await until(async () => JSON.stringify(await shown()).includes('"max_turns":50'), 1500);
  expect((await command('rollback', '99')).stderr).toContain('There was no revision 99');
  expect((await command('rollback', 'x')).code).toBe(2);
  gateway.kill('SIGTERM');
  expect((await gateway.ended).code).toBe(0);
});
