import { Database } from '../../src/platform/database/database.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { newSession } from '../harness/turn-stream.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

test('a turn without tools is two statements: nothing more is written so that it outlives its replica', async () => {
  const sessionId = await newSession(gateway);
  const say = () => gateway.a.post(`/sessions/${sessionId}/messages`, { content: 'Hello' });
  await say();
  const asked = jest.spyOn(gateway.started.app.get(Database, { strict: false }), 'query');
  expect((await say()).status).toBe(200);
  // Leaves out the replica's own periodic statements, of which some have no values.
  const own = asked.mock.calls.filter(([, values]: readonly [unknown, object?]) =>
    Object.values(values ?? {}).includes(sessionId),
  );
  expect(own.map(([{ name }]) => name)).toEqual(['turns.begin_or_go_on', 'turns.complete']);
});
