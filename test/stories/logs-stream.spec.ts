import { Logs } from '../../src/platform/logging/logger.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';
import { LogReaders, loggerOf, messagesOf, openedStream, stored } from '../harness/log-readers.js';

let database: TestDatabase;
/** For tests that need no settings of their own and change nothing. */
let shared: TestGateway;
const gateways: TestGateway[] = [];
const readers = new LogReaders();

beforeAll(async () => {
  database = await createTestDatabase();
  shared = await startTestGateway({ database });
});
afterEach(async () => {
  readers.close();
  for (const gateway of gateways.splice(0)) await gateway.stop();
});
afterAll(async () => {
  await shared.stop();
  await database.drop();
});

async function replica(env: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await startTestGateway({ database, env });
  gateways.push(gateway);
  return gateway;
}

describe('4.2 | GET | /logs/stream | query: level | Server-Sent Events stream of log entries for real-time tailing', () => {
  test('Server-Sent Events of what is new, from a minimum level on', async () => {
    const gateway = await replica({ GATEWAY__LOGGING__LEVEL: 'trace' });
    loggerOf(gateway, 'before').error('too early');
    await stored(gateway, 'before', 1);
    const stream = await readers.read(gateway, '/logs/stream?level=warn');
    expect(stream.status).toBe(200);
    expect(stream.response.headers['content-type']).toBe('text/event-stream');
    expect(stream.response.headers['cache-control']).toBe('no-store');
    loggerOf(gateway, 'live::one').info('not this one');
    loggerOf(gateway, 'live::one').warn('this one', { session_id: 'sess_1' });
    loggerOf(gateway, 'live').error('and this one');
    await stream.until('log', 2);
    expect(stream.of('log')).toEqual([
      {
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        level: 'warn',
        module: 'live::one',
        message: 'this one',
        session_id: 'sess_1',
      },
      expect.objectContaining({ level: 'error', module: 'live', message: 'and this one' }),
    ]);
    expect(stream.retryMs).toBeGreaterThan(0);
    const ids = stream.events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain('');
  });
});

describe('4.2 | GET | /logs | query: level (trace / debug / info / warn / error, default info), module (String, default all; for example agent, channel::telegram-style names), since (String, ISO 8601 timestamp or duration such as 1h or 30m; default one hour ago), limit (usize, default 100), stream (boolean, default false) | 200; object with entries and total; when stream is true a Server-Sent Events stream', () => {
  test('with stream=true it begins with what the same list would show, and goes on', async () => {
    for (let n = 1; n <= 5; n++) loggerOf(shared, 'tail::part').info(`line ${n}`);
    loggerOf(shared, 'other').info('of another module');
    await stored(shared, 'tail', 5);
    const stream = await readers.read(shared, '/logs?stream=true&module=tail&limit=3');
    expect([stream.status, stream.response.headers['content-type']]).toEqual([200, 'text/event-stream']);
    await stream.until('log', 3);
    loggerOf(shared, 'tail').info('line 6');
    loggerOf(shared, 'tailor').info('of another module');
    loggerOf(shared, 'tail').debug('of a lower level');
    loggerOf(shared, 'tail').info('line 7');
    await stream.until('log', 5);
    expect(messagesOf(stream)).toEqual(['line 3', 'line 4', 'line 5', 'line 6', 'line 7']);
  });
});

test('a reader whose filter lets nothing through still resumes where it was', async () => {
  const stream = await readers.read(shared, '/logs/stream?level=error');
  const { lastEventId } = await openedStream(stream);
  stream.close();
  loggerOf(shared, 'quiet').error('while away');
  await stored(shared, 'quiet', 1);
  const again = await readers.read(shared, '/logs/stream?level=error', { after: lastEventId });
  await again.until('log', 1);
  expect(messagesOf(again)).toEqual(['while away']);
});

test('a gap says how many lines are lost when those after the last one are no longer kept', async () => {
  const stream = await openedStream(await readers.read(shared, '/logs/stream'));
  stream.close();
  for (let n = 1; n <= 7; n++) loggerOf(shared, 'expiring').info(`line ${n}`);
  await stored(shared, 'expiring', 7);
  await database.query(
    `DELETE FROM log_entries WHERE id < (SELECT id FROM log_entries WHERE module = 'expiring' AND message = 'line 6')`,
  );
  const [first] = await database.query<{ id: string }>('SELECT min(id) AS id FROM log_entries');
  const again = await readers.read(shared, '/logs/stream', { after: stream.lastEventId });
  await again.until('log', 2);
  const lines = Number(first?.id) - Number(stream.lastEventId) - 1;
  expect(lines).toBeGreaterThanOrEqual(5);
  expect(again.events[0]?.event).toBe('gap');
  expect(again.of('gap')).toEqual([{ reason: 'expired', lines, lost: true }]);
  expect(messagesOf(again)).toEqual(['line 6', 'line 7']);
});

test.each(['not-a-number', '999999999999999', '-1', '1.5', '99999999999999999999999'])(
  'an id that was never used starts with new lines, and says so: %s',
  async (after) => {
    const stream = await readers.read(shared, '/logs?stream=true&module=unknown', { after });
    await stream.until('gap', 1);
    expect(stream.of('gap')).toEqual([{ reason: 'unknown_id', lines: null, lost: true }]);
    loggerOf(shared, 'unknown').info(`new since ${after}`);
    await stream.until('log', 1);
    expect(messagesOf(stream)).toEqual([`new since ${after}`]);
  },
);

test('a stream ends soon after its token was revoked', async () => {
  const tokens = shared.started.app.get(TokensService, { strict: false });
  const minted = await tokens.create({
    name: 'reader',
    scopes: ['logs:read'],
    boundUserId: null,
    expiresAt: null,
  });
  const stream = await readers.read(shared, '/logs/stream', { token: minted.secret });
  expect(stream.status).toBe(200);
  const revokedAt = performance.now();
  await tokens.revoke(minted.token.id);
  await eventually(() => expect(stream.ended).toBe('complete'));
  expect(performance.now() - revokedAt).toBeLessThan(5000);
  expect(stream.comments).toContain('forbidden');
});

test('the level changes live, for loggers that exist already', async () => {
  const gateway = await replica();
  const logs = gateway.started.app.get(Logs);
  const existing = logs.for('leveller');
  const stream = await readers.read(gateway, '/logs?stream=true&level=trace&module=leveller');
  existing.debug('unheard');
  logs.setLevel('debug');
  existing.debug('heard');
  existing.trace('unheard');
  logs.setLevel('error');
  existing.info('unheard');
  existing.error('heard too');
  await stream.until('log', 2);
  expect(messagesOf(stream)).toEqual(['heard', 'heard too']);
});

test('HEAD answers with the headers of the stream and ends', async () => {
  const { status, headers } = await shared.b.send('HEAD', '/logs/stream');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toContain('text/event-stream');
});

test.each(['level=fatal', 'module=agent', 'since=1h'])('a bad stream query is 400: %s', async (query) => {
  expect((await shared.b.get(`/logs/stream?${query}`)).status).toBe(400);
});

test('a stream asks for logs:read', async () => {
  const other = await shared.mint({ scopes: ['status:read'] });
  const bound = await shared.mint({ user: 'ada' });
  expect((await shared.caller('b', undefined).get('/logs/stream')).status).toBe(401);
  expect((await shared.caller('b', other).get('/logs?stream=true')).status).toBe(403);
  expect((await shared.caller('b', bound).get('/logs/stream')).status).toBe(403);
});
