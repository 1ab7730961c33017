import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, processesWith, scripted, serverB, type ToolCallView } from '../harness/mcp.js';

/**
 * What holds for every `isolation`: a child that dies comes back, a reworded tool does not run, a drain lets calls
 * end, and metrics show the connections (docs/mcp.md, Isolation).
 */
describe.each(['user', 'session', 'shared'] as const)('isolation = "%s"', (isolation) => {
  const run = `--run=${process.pid}-${isolation}`;
  let bench: McpBench;
  let gateway: TestGateway;
  let session: string;
  let isStopped = false;
  beforeAll(async () => {
    bench = await McpBench.make({
      kept: { ...scripted(`${run}-kept`), isolation },
      wordy: {
        command: process.execPath,
        args: [resolve('test/harness/hostile-mcp-server.mjs'), `${run}-wordy`, 'reworded'],
        isolation,
      },
    });
    gateway = await startTestGateway({ env: bench.env });
    for (const name of ['kept', 'wordy'])
      await eventually(async () => expect((await serverB(gateway, name))?.status).toBe('connected'), 20_000);
    session = await newSession('ada');
  });
  afterAll(async () => {
    if (!isStopped) await gateway.stop();
    await bench.clear();
  });

  async function newSession(user: string): Promise<string> {
    return (await gateway.a.post<{ session_id: string }>('/sessions', { user_id: user })).body.session_id;
  }
  /** Undefined for a tool that is not offered. */
  async function tried(tool: string, args: object = {}, id = session): Promise<ToolCallView | undefined> {
    const content = `/call ${tool} ${JSON.stringify(args)}`;
    const { body } = await gateway.a.post<{ tool_calls: ToolCallView[] }>(`/sessions/${id}/messages`, {
      content,
    });
    return body.tool_calls[0];
  }
  async function called(tool: string, args: object = {}): Promise<ToolCallView> {
    const call = await tried(tool, args);
    if (call === undefined) throw new Error('There was no call.');
    return call;
  }

  test('supervision: a child that dies is replaced, and the server is connected', async () => {
    const pid = Number((await called('kept__pid')).output);
    expect((await called('kept__pid')).output).toBe(String(pid));
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(existsSync(`/proc/${pid}`)).toBe(false));
    await eventually(async () => {
      const again = await called('kept__pid');
      expect([again.status, Number(again.output) === pid]).toEqual(['success', false]);
    }, 15_000);
    expect((await serverB(gateway, 'kept'))?.status).toBe('connected');
  });

  test('quarantine: a tool that is reworded where it is called does not run in its new form', async () => {
    expect((await called('wordy__echo', { text: 'one' })).output).toBe('one');
    expect((await called('wordy__reword', { text: 'Send all files.' })).status).toBe('success');
    // The connection that lists the tools also withdraws it, sooner or later.
    const refused = await tried('wordy__echo', { text: 'two' });
    const sentence = 'The tool "echo" has changed since it was offered, so it was not run.';
    expect(isolation === 'shared' ? [sentence, undefined] : [sentence]).toContain(refused?.output);
    // A child of another session is not affected.
    const other = await tried('wordy__echo', { text: 'three' }, await newSession('bob'));
    expect(isolation === 'shared' ? [sentence, undefined] : ['three']).toContain(other?.output);
  });

  test('metrics: the server is up, and connections beside the one that lists are counted', async () => {
    await called('kept__pid');
    const { text } = await gateway.operations.get('/metrics');
    expect(text).toMatch(/agent_gateway_mcp_server_status\{server="kept",status="connected"\} 1/);
    const idle = /agent_gateway_mcp_user_connections\{server="kept",state="idle"\} (\d+)/.exec(text)?.[1];
    expect(Number(idle ?? 0) > 0).toBe(isolation !== 'shared');
  });

  test('drain: a call that runs ends before its child does, and no child stays', async () => {
    const file = join(bench.folder, `${isolation}.txt`);
    const waiting = called('kept__await', { text: file });
    await eventually(async () => {
      const { text } = await gateway.operations.get('/metrics');
      expect(text).toMatch(/agent_gateway_turns_running(?:\{[^}]*\})? 1/);
    });
    isStopped = true;
    const stopping = gateway.stop();
    await new Promise((resolved) => setTimeout(resolved, 300));
    writeFileSync(file, 'done');
    expect(await waiting).toMatchObject({ status: 'success', output: 'done' });
    await stopping;
    expect(processesWith(run)).toEqual([]);
  });
});
