import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { untilChannel } from '../harness/channels.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { McpBench, scripted, serverB, type ToolCallView } from '../harness/mcp.js';
import { type ObedientModel, sayOverSocket, startObedientModel } from '../harness/obedient-model.js';

const SECRET = 'whsec_Y2FuYXJ5IHNlY3JldCBvZiBhIHdlYmhvb2sgY2hhbm5lbA==';
const RULES = `
[tools.channels.api]
deny = ["own__pid"]
[tools.channels.desk]
deny = ["own__env"]
[channels_config.desk]
type = "webhook"
secret = "${SECRET}"
allowed_users = ["*"]
`;
/** The tools of a session on `admin` for a message over REST: those that both rules allow. */
const OVER_REST = { own__echo: 'success', own__pid: 'denied', own__env: 'denied' };
const OVER_DESK = { own__echo: 'success', own__pid: 'success', own__env: 'denied' };
const CALLS = 'own__echo own__pid own__env';

let folder: string;
let model: ObedientModel;
let bench: McpBench;
let gateway: TestGateway;

beforeAll(async () => {
  folder = await mkdtemp('/tmp/agw-rules-');
  model = await startObedientModel();
  const own = { ...scripted(`channel-rules-${process.pid}`), writable_paths: [folder] };
  bench = await McpBench.make({ own }, RULES + model.provider);
  gateway = await startTestGateway({ env: bench.env });
  await eventually(async () => expect((await serverB(gateway, 'own'))?.status).toBe('connected'));
  await untilChannel(gateway, 'desk', 'connected');
});
afterAll(async () => {
  await gateway.stop();
  await model.mock.stop();
  await bench.clear();
  await rm(folder, { recursive: true });
});

const verdicts = (calls: readonly ToolCallView[]) =>
  Object.fromEntries(calls.map(({ name, status }) => [name, status]));
const onDesk = async () =>
  (await gateway.a.post<{ session_id: string }>('/sessions', { channel: 'desk' })).body.session_id;

/** The results of the tool calls in a session's last answer, from the history. */
async function lastVerdicts(sessionId: string): Promise<Record<string, string>> {
  const path = `/sessions/${sessionId}/messages`;
  const { body } = await gateway.a.get<{ messages: { role: string; tool_calls: ToolCallView[] }[] }>(path);
  const last = body.messages.at(-1);
  return last?.role === 'assistant' ? verdicts(last.tool_calls) : {};
}

describe('a turn that came over REST obeys the rules of api too, whatever channel its session names', () => {
  test('as a message that waits for its answer', async () => {
    const path = `/sessions/${await onDesk()}/messages`;
    const { body } = await gateway.a.post<{ tool_calls: ToolCallView[] }>(path, { content: CALLS });
    expect(verdicts(body.tool_calls)).toEqual(OVER_REST);
  });

  test('as a message over a WebSocket', async () => {
    const sessionId = await onDesk();
    const done = await sayOverSocket(gateway, { sessionId, token: gateway.token, content: CALLS });
    expect(verdicts(done['tool_calls'] as ToolCallView[])).toEqual(OVER_REST);
  });

  test('as a message that was accepted on one replica and is answered by another', async () => {
    const sessionId = await onDesk();
    const path = `/sessions/${sessionId}/messages`;
    const file = join(folder, 'go-on');
    const busy = gateway.a.post(path, { content: `own__await=${file}` });
    await eventually(async () => {
      const { body } = await gateway.a.get<{ messages: object[] }>(path);
      expect(body.messages).toHaveLength(1);
    });
    const other = await startTestGateway({ database: gateway.database, env: bench.env });
    const later = { prefer: 'respond-async' };
    expect((await other.a.post(path, { content: CALLS }, later)).status).toBe(202);
    await other.stop();
    await writeFile(file, 'now');
    expect((await busy).status).toBe(200);
    await eventually(async () => expect(await lastVerdicts(sessionId)).toEqual(OVER_REST));
  });
});

describe('a turn that came over a channel', () => {
  /** Posts a message like a program that writes for the users of `admin`. */
  async function overDesk(id: string): Promise<string> {
    const body = JSON.stringify({ conversation: 'one', user: 'ada', content: CALLS });
    const at = new Date();
    const answer = await fetch(`http://127.0.0.1:${gateway.started.ports.b}/inbound/desk`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(SECRET).sign(id, at, body),
      },
      body,
    });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { session_id: string }).session_id;
  }

  test('obeys only the rules of that channel; a later message over REST obeys both', async () => {
    const sessionId = await overDesk('in_1');
    expect(await lastVerdicts(sessionId)).toEqual(OVER_DESK);
    const path = `/sessions/${sessionId}/messages`;
    const { body } = await gateway.b.post<{ tool_calls: ToolCallView[] }>(path, { content: CALLS });
    expect(verdicts(body.tool_calls)).toEqual(OVER_REST);
    await overDesk('in_2');
    expect(await lastVerdicts(sessionId)).toEqual(OVER_DESK);
  });
});
