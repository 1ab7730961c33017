import { ContentRetention } from '../../src/areas/privacy/content-retention.service.js';
import { everyRow } from '../harness/every-row.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

async function ended(text: string, days: number): Promise<string> {
  const { body } = await gateway.a.post<{ session_id: string }>('/sessions', {
    system_prompt: `Know ${text}`,
  });
  const attachments = [
    {
      type: 'file',
      name: `${text}.txt`,
      mime_type: 'text/plain',
      data: Buffer.from(text).toString('base64'),
    },
  ];
  await gateway.a.post(`/sessions/${body.session_id}/messages`, { content: `I am ${text}`, attachments });
  await gateway.a.delete(`/sessions/${body.session_id}`);
  await gateway.database.query(
    `UPDATE sessions SET ended_at = now() - interval '${days} days' WHERE id = '${body.session_id}'`,
  );
  return body.session_id;
}

test('`agent.content_retention_days`: texts go, rows and counts stay', async () => {
  const old = await ended('canary-old', 31);
  const fresh = await ended('canary-fresh', 29);
  const before = (await gateway.b.get<object>(`/sessions/${old}`)).body;
  const { job } = gateway.started.app.get(ContentRetention, { strict: false });
  await job.runAll();
  expect(await everyRow(gateway.database)).toContain('canary-old');
  expect((await gateway.b.patch('/config', { agent: { content_retention_days: 30 } })).status).toBe(200);
  await job.runAll();
  const rows = await everyRow(gateway.database);
  expect(rows).not.toContain('canary-old');
  expect(rows).not.toContain(Buffer.from('canary-old').toString('hex'));
  expect(rows).toContain('canary-fresh');
  const after = (await gateway.b.get<{ metadata: object }>(`/sessions/${old}`)).body;
  expect(after).toEqual({ ...before, metadata: {} });
  const { body } = await gateway.a.get<{ messages: object[] }>(`/sessions/${old}/messages`);
  expect(body.messages).toMatchObject([
    { role: 'user', content: '', attachments: [] },
    { role: 'assistant', content: '', tool_calls: [] },
  ]);
  const kept = await gateway.a.get<{ messages: { content: string }[] }>(`/sessions/${fresh}/messages`);
  expect(kept.body.messages[0]?.content).toBe('I am canary-fresh');
});

test('content_retention_days needs security:write, as other keys that delete', async () => {
  const token = await gateway.mint({ name: 'op', scopes: ['config:read', 'config:write'] });
  const { status } = await gateway
    .caller('b', token)
    .patch('/config', { agent: { content_retention_days: 1 } });
  expect(status).toBe(403);
});
