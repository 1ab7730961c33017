import { resolve } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { HookReceiver } from '../harness/hook-receiver.js';
import { RemoteCommandLine } from '../harness/remote-command-line.js';

const TIMEOUT_MS = 60_000;
const WIDEST = 100;

let gateway: TestGateway;
let receiver: HookReceiver;
let line: RemoteCommandLine;
beforeAll(async () => {
  receiver = await HookReceiver.open();
  gateway = await startTestGateway({ env: { GATEWAY__PLUGINS__DIRECTORY: resolve('plugins') } });
  line = new RemoteCommandLine(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

/** The table that a command prints; its lines must fit. */
async function tableOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await line.call(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  for (const row of stdout.split('\n')) expect(row.length).toBeLessThanOrEqual(WIDEST);
  return stdout;
}

describe('hooks', () => {
  test('are created with a new secret, listed, and deleted', async () => {
    const made = await line.call('hooks', 'create', receiver.url('/made'), '--events', 'session.created');
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^whsec_[A-Za-z0-9+/=]+\n$/)]);
    const id = /^(hook_\w+) is registered\. Its secret is shown only this once\.$/m.exec(made.stderr)?.[1];
    expect(await tableOf('hooks', 'list')).toMatch(
      new RegExp(`^${id} +active +0 +session\\.created +\\S`, 'm'),
    );
    const { hooks } = await line.json<{ hooks: { id: string; url: string }[] }>('hooks', 'list');
    expect(hooks).toContainEqual(expect.objectContaining({ id, url: receiver.url('/made') }));
    expect(await line.call('hooks', 'delete', id ?? '')).toEqual({
      ...{ code: 0, stdout: '', stderr: `${id} is deleted.\n` },
    });
    expect((await line.call('hooks', 'delete', id ?? '')).code).toBe(1);
  });

  test('--unsigned makes none, and --json prints what was made', async () => {
    const made = await line.json<{ id: string; secret: null }>(
      ...['hooks', 'create', receiver.url('/plain'), '--unsigned'],
    );
    expect(made).toMatchObject({ active: true, events: ['*'], secret: null });
    expect(await line.json('hooks', 'delete', made.id)).toEqual({ id: made.id, status: 'deleted' });
  });

  test('what cannot be registered says why', async () => {
    expect(await line.call('hooks', 'create', 'ftp://example.com')).toMatchObject({ code: 1, stdout: '' });
    expect((await line.call('hooks', 'create', receiver.url(), '--events', 'nothing.such')).code).toBe(1);
    expect((await line.call('hooks', 'create')).code).toBe(2);
  });

  test('deliveries are listed with the number that redeliver takes', async () => {
    const { id } = await line.json<{ id: string }>('hooks', 'create', receiver.url('/again'));
    await gateway.b.post('/sessions', {});
    await eventually(
      async () =>
        expect(await tableOf('hooks', 'deliveries', id)).toMatch(
          /^\d+ +session\.created +\d+ +delivered +1 +200/m,
        ),
      TIMEOUT_MS,
    );
    const { deliveries } = await line.json<{ deliveries: { id: string }[] }>('hooks', 'deliveries', id);
    const number = deliveries[0]?.id ?? '';
    const again = await line.call('hooks', 'redeliver', number);
    expect(again).toEqual({ code: 0, stdout: '', stderr: `${number} is pending.\n` });
    await eventually(() => expect(receiver.bodies('/again').length).toBeGreaterThan(1), TIMEOUT_MS);
    await eventually(
      async () =>
        expect(await line.json('hooks', 'redeliver', number)).toEqual({ id: number, status: 'pending' }),
      TIMEOUT_MS,
    );
    expect((await line.call('hooks', 'redeliver', '999999999')).code).toBe(1);
    expect((await line.call('hooks', 'deliveries', id, '--status', 'lost')).code).toBe(2);
  });

  test('what works on the database alone refuses --url', async () => {
    const { AGENT_GATEWAY_URL: url = '' } = line.variables;
    for (const args of [
      ['hooks', 'ping', 'hook_x'],
      ['audit', 'verify'],
    ])
      expect((await line.call('--url', url, ...args)).code).toBe(2);
  });
});

test('usage is summed up as it is locally: table, CSV and JSON', async () => {
  const { body } = await gateway.b.post<{ id: string }>('/sessions', { user_id: 'ada' });
  await gateway.b.post(`/sessions/${body.id}/messages`, { content: 'Hello' });
  await eventually(
    async () => expect(await tableOf('usage', '--by', 'agent,user')).toMatch(/^default +ada +1 +\d+ +\d+ +/m),
    TIMEOUT_MS,
  );
  const { usage } = await line.json<{ usage: object[] }>('usage', '--by', 'agent');
  expect(usage).toEqual([expect.objectContaining({ agent: 'default', turns: 1 })]);
  const csv = await line.call('usage', '--by', 'user', '--csv');
  expect([csv.code, csv.stdout]).toEqual([0, expect.stringMatching(/^\ufeffuser,turns,input_tokens,/)]);
  const none = await line.call('usage', '--since', '2020-01-01', '--until', '2020-01-02');
  expect(none).toEqual({ code: 0, stdout: '', stderr: 'There was no usage in these days.\n' });
  expect((await line.call('usage', '--by', 'mood')).code).toBe(2);
});

test('the audit is listed as it is locally', async () => {
  await gateway.b.patch('/config', { agent: { max_turns: 33 } });
  await eventually(
    async () =>
      expect(await tableOf('audit', 'list', '--action', 'config.changed')).toMatch(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +test +127\.0\.0\.1 +config\.changed +\S+ +success/m,
      ),
    TIMEOUT_MS,
  );
  const { items } = await line.json<{ items: object[] }>('audit', 'list', '--limit', '1', '--since', '1h');
  expect(items).toHaveLength(1);
  const none = await line.call('audit', 'list', '--actor', 'nobody');
  expect(none).toEqual({ code: 0, stdout: '', stderr: 'The audit has no such rows.\n' });
  expect((await line.call('audit', 'list', '--limit', '0')).code).toBe(2);
});

test.each(['a', 'b'] as const)('plugins are listed and taken out and back at Profile %s', async (profile) => {
  const at = new RemoteCommandLine(gateway, profile);
  const listed = await at.call('plugins', 'list');
  expect([listed.code, listed.stdout]).toEqual([
    0,
    expect.stringMatching(/^measures +\S+ +loaded +\d+ MiB/m),
  ]);
  expect(await at.json('plugins', 'list')).toMatchObject({ plugins: [{ name: 'measures' }] });
  const off = await at.call('plugins', 'disable', 'measures');
  expect(off).toEqual({ code: 0, stdout: '', stderr: 'measures is disabled.\n' });
  expect((await at.call('plugins', 'list')).stdout).toMatch(/^measures +\S+ +disabled/m);
  expect(await at.json('plugins', 'enable', 'measures')).toMatchObject({
    name: 'measures',
    status: 'loaded',
  });
  expect((await at.call('plugins', 'enable', 'nobody')).code).toBe(1);
  expect((await at.call('plugins', 'enable')).code).toBe(2);
});

test('plugins are reloaded at Profile B alone', async () => {
  const done = await line.call('plugins', 'reload', 'measures');
  expect(done).toEqual({ code: 0, stdout: '', stderr: 'measures is loaded.\n' });
  const refused = await new RemoteCommandLine(gateway, 'a').call('plugins', 'reload', 'measures');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Profile A cannot reload')]);
});

test('skills are listed at both profiles', async () => {
  const names = await line.json<{ skills: { name: string }[] }>('skills', 'list');
  const [first] = names.skills;
  expect(await tableOf('skills', 'list')).toMatch(new RegExp(`^${first?.name} +builtin`, 'm'));
  const ofA = await new RemoteCommandLine(gateway, 'a').call('skills', 'list');
  expect([ofA.code, ofA.stdout]).toEqual([0, expect.stringContaining(first?.name ?? '')]);
  expect((await line.call('skills', 'list', '--loud')).code).toBe(2);
});

describe('colour', () => {
  test('heads and states are coloured on a terminal, and take no room', async () => {
    const colored = await line.callWith({ isColored: true }, 'channels', 'list');
    expect(colored.stdout).toContain('\u001b[1mNAME\u001b[0m');
    expect(colored.stdout).toContain('\u001b[32mconnected\u001b[0m');
    const bare = ['0', '1', '31', '32', '33'].reduce(
      (text, code) => text.replaceAll(`\u001b[${code}m`, ''),
      colored.stdout,
    );
    expect(bare).toBe((await line.call('channels', 'list')).stdout);
  });

  test('nothing is coloured elsewhere', async () => {
    expect((await line.call('status')).stdout).not.toContain('\u001b');
  });
});
