import { setTimeout as sleep } from 'node:timers/promises';
import { LogStreams } from '../../src/areas/logs/stream/log-streams.service.js';
import { Logs } from '../../src/platform/logging/logger.js';
import { TokensService } from '../../src/platform/tokens/tokens.service.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { EventStream, type StreamEvent } from '../harness/event-stream.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

interface Entry {
  readonly level: string;
  readonly module: string;
  readonly message: string;
}

let database: TestDatabase;
/** For whoever needs no settings of its own and leaves it as it was. */
let shared: TestGateway;
const gateways: TestGateway[] = [];
const streams: EventStream[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  shared = await startTestGateway({ database });
});
afterEach(async () => {
  jest.useRealTimers();
  for (const stream of streams.splice(0)) stream.close();
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

async function stop(gateway: TestGateway): Promise<void> {
  gateways.splice(gateways.indexOf(gateway), 1);
  await gateway.stop();
}

async function read(
  gateway: TestGateway,
  path: string,
  { after, token = gateway.token }: { after?: string; token?: string } = {},
): Promise<EventStream> {
  const headers: Record<string, string> = after === undefined ? {} : { 'last-event-id': after };
  const stream = await EventStream.open(`${gateway.b.base}${path}`, token, headers);
  streams.push(stream);
  return stream;
}

const logger = (gateway: TestGateway, module: string) => gateway.started.app.get(Logs).for(module);

const messages = (stream: EventStream) => stream.of<Entry>('log').map(({ message }) => message);

async function stored(gateway: TestGateway, module: string, count: number): Promise<void> {
  await eventually(async () => {
    const { body } = await gateway.b.get<{ total: number }>(`/logs?module=${module}&limit=1`);
    expect(body.total).toBe(count);
  });
}

describe('4.2 | GET | /logs/stream | query: level | Server-Sent Events stream of log entries for real-time tailing', () => {
  test('Server-Sent Events of what is new, from a minimum level on', async () => {
    const gateway = await replica({ GATEWAY__LOGGING__LEVEL: 'trace' });
    logger(gateway, 'before').error('too early');
    await stored(gateway, 'before', 1);
    const stream = await read(gateway, '/logs/stream?level=warn');
    expect(stream.status).toBe(200);
    expect(stream.response.headers['content-type']).toBe('text/event-stream');
    expect(stream.response.headers['cache-control']).toBe('no-store');
    logger(gateway, 'live::one').info('not this one');
    logger(gateway, 'live::one').warn('this one', { session_id: 'sess_1' });
    logger(gateway, 'live').error('and this one');
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
    for (let n = 1; n <= 5; n++) logger(shared, 'tail::part').info(`line ${n}`);
    logger(shared, 'other').info('of another module');
    await stored(shared, 'tail', 5);
    const stream = await read(shared, '/logs?stream=true&module=tail&limit=3');
    expect([stream.status, stream.response.headers['content-type']]).toEqual([200, 'text/event-stream']);
    await stream.until('log', 3);
    logger(shared, 'tail').info('line 6');
    logger(shared, 'tailor').info('of another module');
    logger(shared, 'tail').debug('of a lower level');
    logger(shared, 'tail').info('line 7');
    await stream.until('log', 5);
    expect(messages(stream)).toEqual(['line 3', 'line 4', 'line 5', 'line 6', 'line 7']);
  });
});

test('a resumed stream misses nothing and repeats nothing: on the same replica, on another, after a restart', async () => {
  const first = await replica();
  const second = shared;
  const path = '/logs?stream=true&module=resume';
  const seen: string[] = [];
  let stream = await read(first, path);
  /** Reads two lines, goes away, misses one, comes back, and gets one more. */
  const goOn = async (gateway: TestGateway) => {
    await stream.until('log', 2);
    seen.push(...messages(stream));
    stream.close();
    logger(second, 'resume').info(`line ${seen.length + 1}`);
    await stored(gateway, 'resume', seen.length + 1);
    stream = await read(gateway, path, { after: stream.lastEventId });
    logger(gateway, 'resume').info(`line ${seen.length + 2}`);
  };
  logger(first, 'resume').info('line 1');
  await stored(first, 'resume', 1);
  logger(second, 'resume').info('line 2');
  await goOn(first);
  await goOn(second);
  await stop(first);
  await goOn(await replica());
  await stream.until('log', 2);
  expect([...seen, ...messages(stream)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `line ${n}`));
});

test('a reader whose filter lets nothing through still resumes where it was', async () => {
  const stream = await read(shared, '/logs/stream?level=error');
  const { lastEventId } = await eventuallyOpened(stream);
  stream.close();
  logger(shared, 'quiet').error('while away');
  await stored(shared, 'quiet', 1);
  const again = await read(shared, '/logs/stream?level=error', { after: lastEventId });
  await again.until('log', 1);
  expect(messages(again)).toEqual(['while away']);
});

async function eventuallyOpened(stream: EventStream): Promise<EventStream> {
  await eventually(() => expect(stream.lastEventId).toMatch(/^\d+$/));
  return stream;
}

test('a heartbeat keeps the connection in use, and moves the place to resume from', async () => {
  const gateway = await replica();
  onlyIntervalsStandStill();
  const stream = await eventuallyOpened(await read(gateway, '/logs/stream?level=error'));
  const opened = Number(stream.lastEventId);
  logger(gateway, 'unwanted').info('of a lower level');
  await stored(gateway, 'unwanted', 1);
  await sleep(500);
  jest.advanceTimersByTime(15_000);
  await eventually(() => expect(stream.comments).toEqual(['heartbeat']));
  await eventually(() => expect(Number(stream.lastEventId)).toBeGreaterThan(opened));
  expect(stream.events).toEqual([]);
});

function onlyIntervalsStandStill(): void {
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
    ],
  });
}

test('a gap says how many lines are lost when those after the last one are no longer kept', async () => {
  const stream = await eventuallyOpened(await read(shared, '/logs/stream'));
  stream.close();
  for (let n = 1; n <= 7; n++) logger(shared, 'expiring').info(`line ${n}`);
  await stored(shared, 'expiring', 7);
  await database.query(
    `DELETE FROM log_entries WHERE id < (SELECT id FROM log_entries WHERE module = 'expiring' AND message = 'line 6')`,
  );
  const [first] = await database.query<{ id: string }>('SELECT min(id) AS id FROM log_entries');
  const again = await read(shared, '/logs/stream', { after: stream.lastEventId });
  await again.until('log', 2);
  const lines = Number(first?.id) - Number(stream.lastEventId) - 1;
  expect(lines).toBeGreaterThanOrEqual(5);
  expect(again.events[0]?.event).toBe('gap');
  expect(again.of('gap')).toEqual([{ reason: 'expired', lines, lost: true }]);
  expect(messages(again)).toEqual(['line 6', 'line 7']);
});

test.each(['not-a-number', '999999999999999', '-1', '1.5', '99999999999999999999999'])(
  'an id that was never given out begins with what is new, and says so: %s',
  async (after) => {
    const stream = await read(shared, '/logs?stream=true&module=unknown', { after });
    await stream.until('gap', 1);
    expect(stream.of('gap')).toEqual([{ reason: 'unknown_id', lines: null, lost: true }]);
    logger(shared, 'unknown').info(`new since ${after}`);
    await stream.until('log', 1);
    expect(messages(stream)).toEqual([`new since ${after}`]);
  },
);

test('a reader that stops costs at most 1 MiB, is cut, and loses nothing when it resumes', async () => {
  const gateway = await replica({ GATEWAY__LOGGING__STREAM_STALL_MS: '3000' });
  const open = gateway.started.app.get(LogStreams, { strict: false });
  const stream = await read(gateway, '/logs/stream');
  stream.pause();
  const sentence = 'x'.repeat(7000);
  let written = 0;
  let most = 0;
  // The kernel takes several megabytes of its own; four more come once anything has to wait here.
  for (let rounds = 12; rounds > 0; rounds -= most > 0 ? 1 : 0) {
    for (let n = 1; n <= 50; n++) logger(gateway, 'flood').info(`${++written} ${sentence}`);
    await stored(gateway, 'flood', written);
    most = Math.max(most, open.maxPendingBytes);
  }
  expect(most).toBeLessThanOrEqual(2 ** 20);
  await eventually(() => expect(open.count).toBe(0), 15_000);
  stream.resume();
  await eventually(() => expect(stream.ended).toBe('complete'));
  const last = stream.events.at(-1);
  expect(last?.event).toBe('gap');
  const gap = JSON.parse(last?.data ?? '{}') as { reason: string; lines: number; lost: boolean };
  expect(gap).toMatchObject({ reason: 'slow_reader', lost: false });
  expect(gap.lines).toBeGreaterThan(0);
  const before = numbers(stream);
  const again = await read(gateway, '/logs/stream', { after: stream.lastEventId });
  const isLast = ({ data }: StreamEvent) => data.includes(`"${written} x`);
  await eventually(() => expect(again.events.filter(isLast)).toHaveLength(1), 20_000);
  expect([...before, ...numbers(again)]).toEqual(
    Array.from({ length: written }, (_line, index) => index + 1),
  );
}, 90_000);

function numbers(stream: EventStream): number[] {
  const floods = stream.of<Entry>('log').filter(({ module }) => module === 'flood');
  return floods.map(({ message }) => Number(message.split(' ')[0]));
}

test('a slow reader that reads gets every line, though more comes than is held for it', async () => {
  const gateway = await replica();
  const open = gateway.started.app.get(LogStreams, { strict: false });
  const stream = await read(gateway, '/logs?stream=true&module=burst');
  const sentence = 'y'.repeat(7000);
  let written = 0;
  for (let burst = 1; burst <= 2; burst++) {
    stream.pause();
    // The kernel takes several megabytes of its own before anything has to wait here.
    while (written < burst * 2500) {
      for (let n = 1; n <= 500; n++) logger(gateway, 'burst').info(`${++written} ${sentence}`);
      await stored(gateway, 'burst', written);
    }
    await eventually(() => expect(open.maxPendingBytes).toBeGreaterThan(0));
    stream.resume();
    await stream.until('log', written, 20_000);
  }
  expect(messages(stream).map((message) => Number(message.split(' ')[0]))).toEqual(
    Array.from({ length: written }, (_line, index) => index + 1),
  );
  expect(stream.of('gap')).toEqual([]);
}, 60_000);

test('more streams than the limit are refused with 503 and a hint, and a closed one makes room', async () => {
  const gateway = await replica({
    GATEWAY__LOGGING__MAX_STREAMS: '2',
    GATEWAY__LIMITS__STREAMS_PER_API_TOKEN: '0',
  });
  const open = gateway.started.app.get(LogStreams, { strict: false });
  const [one] = await Promise.all([read(gateway, '/logs/stream'), read(gateway, '/logs?stream=true')]);
  const refused = await gateway.b.get<{ error: { code: string; details: unknown } }>('/logs/stream');
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(refused.body.error).toMatchObject({
    code: 'internal_error',
    details: { reason: 'too_many_streams' },
  });
  expect((await gateway.b.get('/logs')).status).toBe(200);
  one.close();
  await eventually(() => expect(open.count).toBe(1));
  expect((await read(gateway, '/logs/stream')).status).toBe(200);
});

test('a stream ends soon after its token was revoked', async () => {
  const tokens = shared.started.app.get(TokensService, { strict: false });
  const minted = await tokens.create({
    name: 'reader',
    scopes: ['logs:read'],
    boundUserId: null,
    expiresAt: null,
  });
  const stream = await read(shared, '/logs/stream', { token: minted.secret });
  expect(stream.status).toBe(200);
  const revokedAt = performance.now();
  await tokens.revoke(minted.token.id);
  await eventually(() => expect(stream.ended).toBe('complete'));
  expect(performance.now() - revokedAt).toBeLessThan(5000);
});

test('when the gateway stops, streams end properly and say when to come back', async () => {
  const gateway = await replica();
  const stream = await eventuallyOpened(await read(gateway, '/logs/stream'));
  logger(gateway, 'stopping').info('last words');
  await stop(gateway);
  await eventually(() => expect(stream.ended).toBe('complete'));
  expect(stream.comments).toContain('the gateway is stopping');
  const next = await replica();
  const again = await read(next, '/logs/stream', { after: stream.lastEventId });
  await eventually(() => {
    const all = [...messages(stream), ...messages(again)];
    expect(all.filter((message) => message === 'last words')).toHaveLength(1);
    expect(all.filter((message) => message === 'the gateway has stopped')).toHaveLength(1);
  });
});

test('the level changes live, for loggers that exist already', async () => {
  const gateway = await replica();
  const logs = gateway.started.app.get(Logs);
  const existing = logs.for('leveller');
  const stream = await read(gateway, '/logs?stream=true&level=trace&module=leveller');
  existing.debug('unheard');
  logs.setLevel('debug');
  existing.debug('heard');
  existing.trace('unheard');
  logs.setLevel('error');
  existing.info('unheard');
  existing.error('heard too');
  await stream.until('log', 2);
  expect(messages(stream)).toEqual(['heard', 'heard too']);
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
