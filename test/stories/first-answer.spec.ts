import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

test('a session made in Profile A answers a message, and both profiles show the same history', async () => {
  const created = await gateway.a.post<{ session_id: string }>('/sessions', { user_id: 'ada' });
  expect(created.status).toBe(201);
  const { session_id: id } = created.body;
  const answer = await gateway.a.post<{ role: string; content: string }>(`/sessions/${id}/messages`, {
    content: 'Hello',
  });
  expect(answer.status).toBe(200);
  expect(answer.body.role).toBe('assistant');
  const [historyA, historyB] = await Promise.all([
    gateway.a.get(`/sessions/${id}/messages`),
    gateway.b.get(`/sessions/${id}/messages`),
  ]);
  expect(historyA.body).toEqual(historyB.body);
  const detail = await gateway.b.get<{ turn_count: number }>(`/sessions/${id}`);
  expect(detail.body).toMatchObject({ id, user_id: 'ada', status: 'active', turn_count: 1 });
});
