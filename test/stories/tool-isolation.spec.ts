import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, say, scripted, serverB } from '../harness/mcp.js';

let bench: McpBench;
let gateway: TestGateway;
beforeAll(async () => {
  bench = await McpBench.make({ notes: scripted(`isolation-${process.pid}`) });
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => expect((await serverB(gateway, 'notes'))?.status).toBe('connected'));
});
afterAll(async () => {
  await gateway.stop();
  await bench.clear();
});

const callFor = async (user: string, tool: string, text = '') => {
  const message = `/call notes__${tool} ${JSON.stringify({ text })}`;
  return (await say(gateway, message, { user_id: user })).tool_calls[0];
};

test('"isolation" is "user" by default: a process and a folder of its own for each user, over all sessions', async () => {
  const ada = await callFor('ada', 'pid');
  expect((await callFor('ada', 'pid'))?.output).toBe(ada?.output);
  expect((await callFor('bob', 'pid'))?.output).not.toBe(ada?.output);
  expect((await callFor('ada', 'touch', 'note.txt'))?.status).toBe('success');
  expect((await callFor('ada', 'read', 'note.txt'))?.output).toBe('written');
  expect((await callFor('bob', 'read', 'note.txt'))?.status).toBe('error');
  const home = (JSON.parse((await callFor('ada', 'env'))?.output ?? '') as { HOME: string }).HOME;
  expect(existsSync(join(home, 'note.txt'))).toBe(true);
});

test('stdio: `_meta` of the call carries `user_id`, `session_id`, `agent`', async () => {
  const meta = JSON.parse((await callFor('ada', 'meta'))?.output ?? '') as object;
  expect(meta).toMatchObject({
    user_id: 'ada',
    session_id: expect.stringMatching(/^sess_/) as string,
    agent: 'default',
  });
});
