import { Client } from 'pg';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import type { JudgingModel } from '../harness/judging-model.js';
import { lockWaits } from '../harness/lock-waits.js';
import { startEchoModel } from '../harness/openai-face.js';

let model: JudgingModel;
let gateway: TestGateway;
beforeAll(async () => {
  model = await startEchoModel();
  gateway = await startTestGateway({ env: model.env });
});
afterAll(async () => {
  await gateway.stop();
  await model.provider.stop();
});

/** A complete turn, stored by another process while the message waits for the session's row. */
const TURN = `
  WITH session AS (
    UPDATE sessions SET message_count = message_count + 2, turn_count = turn_count + 1 WHERE id = $1 RETURNING message_count)
  INSERT INTO messages (id, session_id, turn_id, seq, role, content)
  SELECT 'msg_late_' || role || $1, $1, 'turn_late' || $1, message_count - back, role, 'said meanwhile'
  FROM session, (VALUES ('user', 1), ('assistant', 0)) AS said (role, back)`;

test('a turn whose start waited for the session reads what was said while it waited', async () => {
  const session = (await gateway.b.post<{ id: string }>('/sessions', {})).body.id;
  const say = (content: string) =>
    gateway.b.post<{ content: string }>(`/sessions/${session}/messages`, { content });
  expect((await say('One')).body.content).toBe('1 messages, the last: One');
  const holder = new Client({ connectionString: gateway.database.url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE', [session]);
  const answer = say('Two');
  await lockWaits(gateway.database, 1);
  await holder.query(TURN, [session]);
  await holder.query('COMMIT');
  await holder.end();
  expect((await answer).body.content).toBe('5 messages, the last: Two');
  const sent = JSON.stringify(model.requests.at(-1)?.body);
  expect(sent).toContain('said meanwhile');
});
