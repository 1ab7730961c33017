import { echo } from '../harness/channels.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { type Answer, HttpCaller } from '../harness/http-caller.js';
import { type ScriptedProvider, startScriptedProvider } from '../harness/scripted-provider.js';
import { heldAnswer, newSession, providerEnv, TurnStream } from '../harness/turn-stream.js';

interface ModelOutput {
  message_id: string;
  content: string;
}
interface History {
  messages: { message_id: string; role: string; content: string }[];
}

let database: TestDatabase;
let provider: ScriptedProvider;
let replicas: [TestGateway, TestGateway];

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await startScriptedProvider();
  const env = { ...providerEnv(provider), GATEWAY__PROVIDER__MAX_RETRIES: '0' };
  const start = () => startTestGateway({ database, env });
  replicas = [await start(), await start()];
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await provider.stop();
  await database.drop();
});

const KEYED = { 'idempotency-key': 'one-message' };
const BODY = { content: 'Only once, please' };

function answering(...pieces: string[]) {
  const answer = heldAnswer();
  provider.script(answer.script);
  for (const piece of pieces) answer.say(piece);
  return answer;
}

/** The URL of a session's messages at one of the replicas; both know the same tokens. */
const messagesAt = (id: string, at: number): string =>
  `http://127.0.0.1:${(replicas[at % 2] as TestGateway).started.ports.a}/api/v1/sessions/${id}/messages`;

/** Sends the message with the same token and key each time. */
function send(id: string, at = 0, headers: Record<string, string> = {}): Promise<Answer<ModelOutput>> {
  return new HttpCaller(messagesAt(id, at), replicas[0].token).post<ModelOutput>('', BODY, {
    ...KEYED,
    ...headers,
  });
}

/** The same as a stream. */
function stream(id: string, at = 0): Promise<TurnStream> {
  return TurnStream.open(messagesAt(id, at), replicas[0].token, { body: BODY, headers: KEYED });
}

async function finishing<Result>(answer: { finish(): void }, sent: Promise<Result>): Promise<Result> {
  await eventually(() => expect(provider.requests).toHaveLength(1));
  answer.finish();
  return sent;
}

const replayed = ({ headers }: Answer) => headers.get('idempotency-replayed');
async function history(id: string): Promise<string[]> {
  const { body } = await replicas[1].a.get<History>(`/sessions/${id}/messages`);
  return body.messages.map(({ role, content }) => `${role}: ${content}`);
}

test('100 at once over two replicas with one key: one turn, asked of the model once', async () => {
  const answer = answering('Just once');
  const id = await newSession(replicas[0]);
  const all = Array.from({ length: 100 }, (_, index) => send(id, index));
  // All but the first are answered while it runs.
  const settled: Answer<ModelOutput>[] = [];
  for (const one of all) void one.then((got) => settled.push(got));
  await eventually(() => expect(settled).toHaveLength(99));
  expect(new Set(settled.map(({ status, headers }) => `${status} ${headers.get('retry-after')}`))).toEqual(
    new Set(['409 1']),
  );
  answer.finish();
  const answers = await Promise.all(all);
  const served = answers.filter(({ status }) => status === 200);
  expect(served).toHaveLength(1);
  for (const at of [0, 1]) {
    const again = await send(id, at);
    expect([again.status, again.text, replayed(again)]).toEqual([200, served[0]?.text, 'true']);
  }
  expect(await history(id)).toEqual(['user: Only once, please', 'assistant: Just once']);
  expect(provider.requests).toHaveLength(1);
});

test('the answer is replayed in every way in which it can be asked for', async () => {
  const answer = answering('Hel', 'lo');
  const id = await newSession(replicas[0]);
  const first = await stream(id, 0);
  await first.untilSaid('Hello');
  const busy = await send(id, 1);
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([409, '1']);
  answer.finish();
  await first.untilEnded();
  expect(first.response.headers.get('idempotency-replayed')).toBeNull();
  const done = first.of('done')[0]?.data;

  const second = await stream(id, 1);
  await second.untilEnded();
  expect([second.response.status, second.response.headers.get('idempotency-replayed')]).toEqual([
    200,
    'true',
  ]);
  expect([second.said(), second.of('done')[0]?.data]).toEqual(['Hello', done]);
  const json = await send(id, 1);
  expect([json.status, json.body.message_id, replayed(json)]).toEqual([200, done?.['message_id'], 'true']);
  const later = await send(id, 1, { prefer: 'respond-async' });
  const { body } = await replicas[0].a.get<History>(`/sessions/${id}/messages`);
  expect([later.status, later.body.message_id]).toEqual([202, body.messages[0]?.message_id]);
  expect(body.messages).toHaveLength(2);
  expect(provider.requests).toHaveLength(1);
});

test('Prefer: respond-async | the 202 is the answer, also while the turn runs', async () => {
  const answer = answering('Later');
  const id = await newSession(replicas[0]);
  const headers = { prefer: 'respond-async' };
  const first = await send(id, 0, headers);
  const again = await send(id, 1, headers);
  expect([first.status, again.status, again.text, replayed(again)]).toEqual([202, 202, first.text, 'true']);
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  await finishing(answer, Promise.resolve());
  await eventually(async () => expect(await history(id)).toHaveLength(2));
  expect((await send(id, 1)).body.content).toBe('Later');
});

test('a turn that failed is replayed as it was, and the model is not asked again', async () => {
  provider.script((response) => void response.writeHead(500).end('{}'));
  const id = await newSession(replicas[0]);
  const first = await send(id, 0);
  const again = await send(id, 1);
  expect([first.status, replayed(first)]).toEqual([502, null]);
  expect([again.status, again.text, replayed(again)]).toEqual([502, first.text, 'true']);
  const events = await stream(id, 1);
  await events.untilEnded();
  expect(events.of('error').map(({ data }) => data)).toEqual([first.body]);
  expect(provider.requests).toHaveLength(1);
  expect(await history(id)).toEqual(['user: Only once, please']);
});

test('a turn that was cancelled is replayed as cancelled', async () => {
  answering('Never mi');
  const id = await newSession(replicas[0]);
  const sent = send(id, 0);
  await eventually(() => expect(provider.requests).toHaveLength(1));
  expect((await replicas[0].a.delete(`/sessions/${id}`)).status).toBe(204);
  const first = await sent;
  const again = await send(id, 1);
  expect([first.status, again.status, again.text]).toEqual([409, 409, first.text]);
  expect(replayed(again)).toBe('true');
});

test('a turn whose replica is gone goes on at another, and its key has the answer', async () => {
  const answer = heldAnswer();
  answer.say('Half an ans');
  provider.script(answer.script, echo());
  const id = await newSession(replicas[0]);
  const sent = send(id, 0);
  await eventually(() => expect(provider.requests).toHaveLength(1));
  await database.query(
    `UPDATE sessions SET turn_owner = 'gone', turn_lease_until = now() - interval '1 second' WHERE id = $1`,
    [id],
  );
  await eventually(async () => {
    const again = await send(id, 1);
    expect([again.status, replayed(again), again.headers.get('retry-after')]).toEqual([200, 'true', null]);
    expect(again.text).toContain('You said: ');
  });
  answer.finish();
  expect((await sent).status).toBe(503);
  expect(provider.requests).toHaveLength(2);
});

test('a turn that failed and could not be closed is not reported as failed: it goes on, and its key has the answer', async () => {
  // The database breaks exactly when the turn is to end.
  await database.query(`CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION 'connection lost' USING ERRCODE = '08006'; END$$`);
  await database.query(`CREATE TRIGGER break_off BEFORE UPDATE ON turns FOR EACH ROW
    WHEN (NEW.status = 'failed') EXECUTE FUNCTION break_off()`);
  provider.script((response) => void response.writeHead(400).end('{}'), echo());
  const id = await newSession(replicas[0]);
  const told = await send(id, 0);
  await database.query('DROP FUNCTION break_off CASCADE');
  expect([told.status, told.text]).toEqual([503, expect.stringContaining('The turn was interrupted')]);
  expect(Number(told.headers.get('retry-after'))).toBeGreaterThan(0);
  await database.query(
    `UPDATE sessions SET turn_lease_until = now() - interval '1 second' WHERE id = $1 AND turn_owner IS NOT NULL`,
    [id],
  );
  await eventually(async () => {
    const again = await send(id, 1);
    expect([again.status, replayed(again)]).toEqual([200, 'true']);
    expect(again.text).toContain('You said: ');
  });
  expect(provider.requests).toHaveLength(2);
});

test('a message that waited in vain leaves its key free; one that waits holds it', async () => {
  const answer = answering('First');
  const id = await newSession(replicas[0]);
  const busy = replicas[0].a.post(`/sessions/${id}/messages`, { content: 'First' });
  await eventually(() => expect(provider.requests).toHaveLength(1));
  await replicas[0].b.patch('/config', { 'agent.max_wait_ms': 1000 });
  const waiting = send(id, 0);
  await eventually(async () => {
    const [row] = await database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM idempotency_keys JOIN turns ON turns.id = turn_id WHERE turns.status = 'waiting'`,
    );
    expect(row?.n).toBe(1);
  });
  const meanwhile = await send(id, 1, { prefer: 'respond-async' });
  expect([meanwhile.status, meanwhile.text]).toEqual([409, expect.stringContaining('Idempotency-Key')]);
  expect((await waiting).text).toContain('busy');
  const next = answering('Second');
  answer.finish();
  await busy;
  const second = await finishing(next, send(id, 1));
  expect([second.status, second.body.content, replayed(second)]).toEqual([200, 'Second', null]);
  expect(await history(id)).toHaveLength(4);
});

test('attachments are part of what has to be the same', async () => {
  const id = await newSession(replicas[0]);
  const attached = (text: string) => {
    const data = Buffer.from(text).toString('base64');
    const attachments = [{ type: 'file', mime_type: 'text/plain', data }];
    return replicas[0].a.post(`/sessions/${id}/messages`, { content: 'Read', attachments }, KEYED);
  };
  const answer = answering('Read it');
  const first = await finishing(answer, attached('one'));
  expect([first.status, (await attached('one')).text]).toEqual([200, first.text]);
  expect((await attached('two')).status).toBe(409);
  expect(provider.requests).toHaveLength(1);
});
