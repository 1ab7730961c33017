import { setTimeout as sleep } from 'node:timers/promises';
import { neighbour } from '../../bench/harness/neighbour.js';
import type { ProfileId } from '../../src/http/profiles/profile.js';
import { PROFILES } from '../contract/support/faces.js';
import { AHEAD, jsonRequest, type RawConnection, request } from '../contract/support/raw-connection.js';
import { watchMachine } from '../harness/promptly.js';
import { expectRefusal, HostileGateway } from './support/hostile-gateway.js';

/**
 * `SLOW_SOCKETS=1` also waits for the limits of a minute or more: bodies (120 s), idle connections (75 s), readers
 * (30 to 60 s).
 */
const ifSlowSockets = process.env['SLOW_SOCKETS'] === '1' ? test : test.skip;
const OF_EACH = 10;
const SESSIONS = '/api/v1/sessions';
/** Limits are checked every second, and the machine may be busy. */
const LATE_MS = 6000;
const HEADERS_MS = 10_000;
/** Milliseconds are usual. */
const MAX_WAIT_MS = 1000;
/** After so many looks without an answer, one each 10 ms where the machine allows it, a flood is over. */
const QUIET_LOOKS = 30;

let hostile: HostileGateway;
let slowHeads: Promise<void>;
beforeAll(async () => {
  hostile = await HostileGateway.start();
  // They take ten seconds; the other tests run meanwhile.
  slowHeads = sendSlowHeads();
  slowHeads.catch(() => undefined);
});
afterEach(() => hostile.expectUnharmed());
afterAll(() => hostile.stop());

const open = (profile: ProfileId): Promise<RawConnection[]> =>
  Promise.all(Array.from({ length: OF_EACH }, () => hostile.open(profile)));

/** Sends one piece at a time, as if each were the last, until the other end gives up. */
async function sendPieceByPiece(connection: RawConnection, piece: string, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline && !(await connection.ends(100))) connection.send(piece);
}

const neighbourOf = (profile: ProfileId): ReturnType<typeof neighbour> =>
  neighbour(
    `http://127.0.0.1:${hostile.gateway.started.ports[profile]}${SESSIONS}`,
    hostile.authorization,
    20,
  );

/** Fails when a neighbour waited longer than a second for any of its responses meanwhile. Returns how many it had. */
async function nobodyWaits(profile: ProfileId, until: Promise<unknown>): Promise<number> {
  const machine = await watchMachine();
  const waits = neighbourOf(profile);
  await until.catch(() => undefined);
  const { slowestMs, count } = await waits.stop();
  expect(slowestMs).toBeLessThan(MAX_WAIT_MS + (await machine.stop()));
  return count;
}

/** Resolves when a flood of requests for this route is answered as far as it ever is, with how long that took. */
async function untilAnswered(route: string): Promise<number> {
  const { logLines } = hostile.gateway;
  const startedAt = performance.now();
  let lastAt: number | undefined;
  let seen = logLines.length;
  for (let quiet = 0; lastAt === undefined || quiet < QUIET_LOOKS; quiet += 1) {
    await sleep(10);
    if (logLines.slice(seen).some((line) => line.includes(`"${route}"`))) {
      lastAt = performance.now();
      quiet = 0;
    }
    seen = logLines.length;
  }
  return lastAt - startedAt;
}

/** Requests something large. */
const LARGE = request('GET', '/openapi.json');

type SlowHead = readonly [what: string, first: string, piece: string];

/** Every way to send a slow head: what comes first, and what follows piece by piece. */
const SLOW_HEADS: readonly SlowHead[] = [
  ['a method and nothing more', 'GET', ''],
  ['a target without end', 'GET /', 'x'],
  ['one header a letter at a time', 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'x'],
  ['a header at a time', 'GET / HTTP/1.1\r\nHost: x\r\n', 'X-Slow: x\r\n'],
  ['a head that only lacks its end', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n', ''],
];

/** Opens several connections that are slow in one way. Each must be cut at its limit and not before. */
async function cutsSlowHeads(profile: ProfileId, [what, first, piece]: SlowHead): Promise<void> {
  const connections = await open(profile);
  const startedAt = performance.now();
  const all = connections.map(async (connection) => {
    await sendPieceByPiece(connection.send(first), piece, HEADERS_MS + LATE_MS);
    const answer = await connection.answer();
    expectRefusal(profile, answer);
    expect([what, answer.status, await connection.ends(LATE_MS)]).toEqual([what, 408, true]);
    connection.close();
  });
  await Promise.all(all);
  expect(performance.now() - startedAt).toBeGreaterThan(HEADERS_MS - 1000);
}

async function sendSlowHeads(): Promise<void> {
  const both = PROFILES.map(async (profile) => {
    const cut = Promise.all(SLOW_HEADS.map((head) => cutsSlowHeads(profile, head)));
    const served = await nobodyWaits(profile, cut);
    await cut;
    expect(served).toBeGreaterThan(10);
  });
  await Promise.all(both);
}

describe.each(PROFILES)('Profile %s', (profile) => {
  test('has patience with bodies that come in piece by piece, and nobody else waits', async () => {
    const plain = jsonRequest('POST', SESSIONS, hostile.authorization, 'x'.repeat(60_000)).subarray(
      0,
      -60_000,
    );
    const chunked = {
      ...hostile.authorization,
      'Content-Type': 'application/json',
      'Transfer-Encoding': 'chunked',
    };
    const connections = [...(await open(profile)), ...(await open(profile))];
    for (const [i, connection] of connections.entries())
      connection.send(i % 2 === 0 ? plain : request('POST', SESSIONS, chunked));
    const halfSent = connections.map((connection, i) =>
      sendPieceByPiece(connection, i % 2 === 0 ? ' ' : '1\r\n \r\n', 1500),
    );
    expect(await nobodyWaits(profile, Promise.all(halfSent))).toBeGreaterThan(0);
    for (const connection of connections) connection.reset();
  });

  test('lets go of whoever says that there is nothing more to come, before it has come', async () => {
    for (const bytes of [
      '',
      'GET / HT',
      request('GET', '/openapi.json'),
      request('GET', '/', { 'Content-Length': '5' }, 'x'),
    ]) {
      const connection = (await hostile.open(profile)).send(bytes).endHalf();
      expect(await connection.ends(LATE_MS)).toBe(true);
      connection.close();
    }
  });

  test('answers hundreds of requests in a row on one connection in their order, and nobody else waits', async () => {
    const connection = await hostile.open(profile);
    const ids = Array.from({ length: 300 }, (_, i) => `pipelined-${i}`);
    const all = ids.map((id) => request('GET', SESSIONS, { ...hostile.authorization, 'X-Request-Id': id }));
    const answers = connection.pipelined(all, { withinMs: 20_000 });
    await nobodyWaits(profile, answers);
    expect((await answers).map(({ headers }) => headers.get('x-request-id'))).toEqual(ids);
    connection.close();
  });

  test('serves others while some never read what they asked for', async () => {
    const connections = (await Promise.all([open(profile), open(profile), open(profile)])).flat();
    const many = Buffer.concat(Array(AHEAD).fill(LARGE) as Buffer[]);
    const waits = neighbourOf(profile);
    for (const connection of connections) connection.stopReading().send(many);
    const floodMs = await untilAnswered('/openapi.json');
    const { slowestMs } = await waits.stop();
    // Handled as they come, nearly all of them would be answered first.
    expect(slowestMs).toBeLessThan(floodMs / 2);
    for (const connection of connections) connection.reset();
  });
});

test('heads that come in piece by piece are cut at ten seconds, whatever the pieces are, and nobody else waits', async () => {
  await slowHeads;
}, 40_000);

ifSlowSockets(
  'bodies that come in piece by piece are cut at two minutes, idle connections at 75 seconds, readers that read nothing within one',
  async () => {
    const headers = {
      ...hostile.authorization,
      'Content-Type': 'application/json',
      'Content-Length': '60000',
    };
    const startedAt = performance.now();
    const after = (): number => Math.round((performance.now() - startedAt) / 1000);
    const body = (async () => {
      const connection = (await hostile.open('a')).send(request('POST', SESSIONS, headers));
      await sendPieceByPiece(connection, ' ', 140_000);
      expectRefusal('a', await connection.answer());
      return after();
    })();
    const idle = (async () => {
      const connection = (await hostile.open('b')).send(request('GET', SESSIONS, hostile.authorization));
      expect((await connection.answer({ withinMs: 10_000 })).status).toBe(200);
      expect(await connection.ends(100_000)).toBe(true);
      return after();
    })();
    const reader = (async () => {
      const connection = (await hostile.open('b')).stopReading();
      connection.send(Buffer.concat(Array(AHEAD).fill(LARGE) as Buffer[]));
      // Node checks for unread responses when the limit is over, and again a limit later.
      await sleep(70_000);
      // The connection is closed: only what the kernel had buffered still arrives.
      expect(await connection.readOn().ends(LATE_MS)).toBe(true);
    })();
    const cut = { body: await body, idle: await idle };
    await reader;
    process.stdout.write(`cut after so many seconds: ${JSON.stringify(cut)}\n`);
    expect(cut.body).toBeGreaterThanOrEqual(119);
    expect(cut.idle).toBeGreaterThanOrEqual(74);
  },
  200_000,
);
