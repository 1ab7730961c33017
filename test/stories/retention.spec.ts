import { HookRetention } from '../../src/areas/hooks/hook-retention.service.js';
import { SessionRetention } from '../../src/areas/sessions/session-sweeper.service.js';
import { AuditRetention } from '../../src/platform/audit-log/audit-retention.service.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const count = async (table: string): Promise<number> =>
  (await gateway.database.query(`SELECT 1 FROM ${table}`)).length;

test('sessions that ended long ago are deleted with their history if configured, and the totals follow', async () => {
  const { started, database } = gateway;
  const retention = started.app.get(SessionRetention, { strict: false });
  for (let number = 0; number < 3; number += 1) {
    const { body } = await gateway.a.post<{ session_id: string }>('/sessions', {});
    await gateway.a.post(`/sessions/${body.session_id}/messages`, { content: `Hello ${number}` });
    if (number > 0) await gateway.a.delete(`/sessions/${body.session_id}`);
  }
  await database.query(
    `UPDATE sessions SET ended_at = now() - interval '31 days'
     WHERE id = (SELECT id FROM sessions WHERE status = 'terminated' ORDER BY id LIMIT 1)`,
  );
  await retention.job.runAll();
  expect(await count('sessions')).toBe(3);
  expect(await gateway.b.patch('/config', { agent: { session_retention_days: 30 } })).toMatchObject({
    status: 200,
  });
  await retention.job.runAll();
  expect(await count('sessions')).toBe(2);
  expect(await count('messages')).toBe(4);
  const listed = await gateway.a.get<{ total: number; sessions: unknown[] }>('/sessions?status=completed');
  expect(listed.body).toMatchObject({ total: 1, sessions: [{}] });
});

test('audit entries and deliveries are deleted after their retention, and newer ones stay', async () => {
  const { started, database } = gateway;
  await database.query(
    `INSERT INTO hook_deliveries (hook_id, event_id, event, status, done_at)
     SELECT 'gone', 'e', 'session.created', 'delivered', now() - interval '8 days' FROM generate_series(1, 2500)`,
  );
  await database.query(
    `INSERT INTO hooks (id, url, events) VALUES ('gone', 'http://127.0.0.1:4/', '{session.created}')`,
  );
  await database.query(
    `INSERT INTO hook_deliveries (hook_id, event_id, event, status, done_at)
     VALUES ('gone', 'e', 'session.created', 'delivered', now() - interval '6 days')`,
  );
  await started.app.get(HookRetention, { strict: false }).job.runAll();
  expect(await count('hook_deliveries')).toBe(1);
  await database.query('DELETE FROM audit_entries');
  await database.query('DELETE FROM audit_seals');
  await database.query('DELETE FROM audit_unsealed');
  await database.query(
    `INSERT INTO audit_entries (happened_at, action, actor, target, outcome, details)
     SELECT now() - make_interval(days => age), 'tool.called', 'ada', 'echo', 'success', '{}'
     FROM unnest('{900, 366, 364}'::int[]) AS age`,
  );
  await eventually(async () => expect(await count('audit_seals')).toBe(3));
  const older = `SELECT 1 FROM audit_entries WHERE action = 'tool.called'`;
  await started.app.get(AuditRetention, { strict: false }).job.runAll();
  expect(await database.query(older)).toHaveLength(1);
});

test('what was waiting for a deleted webhook, or one whose token was revoked, is deleted; what waits for others stays', async () => {
  const { started, database } = gateway;
  await database.query('DELETE FROM hook_deliveries');
  await database.query(
    `INSERT INTO hooks (id, url, events, active, inactive_reason)
     VALUES ('revoked', 'http://127.0.0.1:4/', '{session.created}', false, 'token_revoked'),
       ('failing', 'http://127.0.0.1:4/', '{session.created}', false, 'failing')`,
  );
  await database.query(
    `INSERT INTO hook_deliveries (hook_id, event_id, event, attempts)
     SELECT hook, 'e', 'session.created', attempts
     FROM unnest('{deleted, revoked, failing}'::text[]) AS hook, generate_series(0, 1) AS attempts, generate_series(1, 700)`,
  );
  await database.query(
    `INSERT INTO hook_deliveries (hook_id, event_id, event, status, done_at)
     VALUES ('deleted', 'e', 'session.created', 'delivered', now())`,
  );
  await started.app.get(HookRetention, { strict: false }).job.runAll();
  const kept = `SELECT hook_id, status, count(*)::int AS n FROM hook_deliveries GROUP BY 1, 2 ORDER BY 1`;
  expect(await database.query(kept)).toEqual([
    { hook_id: 'deleted', status: 'delivered', n: 1 },
    { hook_id: 'failing', status: 'pending', n: 1400 },
  ]);
});
