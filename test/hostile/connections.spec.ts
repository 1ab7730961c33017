import type { ProfileId } from '../../src/http/profiles/profile.js';
import { newSession, PROFILE_DIFFERENCES, PROFILES } from '../contract/support/faces.js';
import { jsonRequest, type RawAnswer, RawConnection, request } from '../contract/support/raw-connection.js';
import { expectRefusal, HostileGateway, LONG, MAX_BODY_BYTES } from './support/hostile-gateway.js';

const SESSIONS = '/api/v1/sessions';
/** Node checks every second for headers that take longer than 10 s. */
const HEADERS_END_MS = 15_000;

let hostile: HostileGateway;
/** A connection whose headers never end, opened first and checked last. */
let slow: RawConnection;
/** Whether each refused connection of a profile was dropped. Also begun first, since it takes five seconds. */
const stubborn = new Map<ProfileId, Promise<boolean[]>>();
beforeAll(async () => {
  hostile = await HostileGateway.start();
  for (const profile of PROFILES) {
    const dropped = refusedAndDropped(profile);
    dropped.catch(() => undefined);
    stubborn.set(profile, dropped);
  }
  slow = await hostile.open('b');
  slow.send('GET /api/v1/sessions HTTP/1.1\r\nHost: gateway.test\r\nX-Slow: ');
});
afterEach(() => hostile.expectUnharmed());
afterAll(async () => {
  slow.close();
  await hostile.stop();
});

/** Clients that are refused at once and go on sending. Returns whether the gateway dropped each of them. */
function refusedAndDropped(profile: ProfileId): Promise<boolean[]> {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': '99999999' };
  const corpus = [
    'garbage\r\n\r\n',
    'CONNECT example.test:443 HTTP/1.1\r\nHost: example.test\r\n\r\n',
    request('POST', SESSIONS, headers),
  ];
  const dropped = corpus.map(async (bytes) => {
    const connection = await hostile.open(profile);
    expectRefusal(profile, await connection.send(bytes).answer({ withinMs: 5000 }));
    return connection.isDropped(10_000);
  });
  return Promise.all(dropped);
}

/** Sends chunks with a pause between them, as a slow client would. */
async function sendWithPauses(
  connection: RawConnection,
  pieces: readonly (string | Buffer)[],
): Promise<void> {
  for (const piece of pieces) {
    connection.send(piece);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe.each(PROFILES)('Profile %s', (profile) => {
  const health = request('GET', `/api/v1${PROFILE_DIFFERENCES[profile].health}`);

  test.each<[string, string | Buffer]>([
    ['a request line of words', 'this is no request\r\n\r\n'],
    ['a request line without end', `GET ${'/x'.repeat(20_000)}`],
    ['an empty version', 'GET / \r\n\r\n'],
    ['a version that there is not', 'GET / HTTP/1.2\r\nHost: x\r\n\r\n'],
    ['HTTP/2 without a word before', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', request('BREW', SESSIONS)],
    ['a method in lower case', request('get', SESSIONS)],
    ['a long method', request(LONG, SESSIONS)],
    ['a control character in the path', request('GET', '/api/v1/\x01')],
    ['a raw byte above ASCII in the path', request('GET', '/api/v1/\xff')],
    ['a blank in the path', request('GET', '/api/v1/a b')],
    ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
    ['zeros', Buffer.alloc(64)],
    ['a header without colon', 'GET / HTTP/1.1\r\nHost x\r\n\r\n'],
    ['a header with a blank before its colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: x\r\n folded\r\nX: y\r\n\r\nGET'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\0y\r\n\r\n'],
    ['a bare carriage return in a header', 'GET / HTTP/1.1\r\nHost: x\rX-A: b\r\n\r\n'],
    [
      'two lengths',
      'POST /api/v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x',
    ],
    ['a negative length', request('POST', SESSIONS, { 'Content-Length': '-1' })],
    ['a length of words', request('POST', SESSIONS, { 'Content-Length': LONG })],
    [
      'a length and a transfer coding',
      request('POST', SESSIONS, { 'Content-Length': '2', 'Transfer-Encoding': 'chunked' }, '0\r\n\r\n'),
    ],
    ['chunked twice', request('POST', SESSIONS, { 'Transfer-Encoding': 'chunked, chunked' }, '0\r\n\r\n')],
    [
      'a last coding that is not chunked',
      request('POST', SESSIONS, { 'Transfer-Encoding': 'chunked, identity' }, '0\r\n\r\n'),
    ],
    ['CONNECT', 'CONNECT example.test:443 HTTP/1.1\r\nHost: example.test\r\n\r\n'],
  ])('answers %s with 400 in its envelope, and ends the connection', async (_what, bytes) => {
    const connection = await hostile.open(profile);
    const answer = await connection.send(bytes).answer({ withinMs: 5000 });
    expectRefusal(profile, answer);
    expect([answer.status, answer.headers.get('connection')]).toEqual([
      answer.status === 431 ? 431 : 400,
      'close',
    ]);
    expect(await connection.ends(5000)).toBe(true);
    connection.close();
  });

  test.each([100_000, 3_000_000])(
    'answers %i bytes of headers with 431, also while they are still coming',
    async (bytes) => {
      const connection = await hostile.open(profile);
      connection.send(`GET ${SESSIONS} HTTP/1.1\r\nHost: x\r\nX-Large: `);
      await sendWithPauses(connection, Array<string>(10).fill('x'.repeat(bytes / 10)));
      const answer = await connection.answer({ withinMs: 5000 });
      expectRefusal(profile, answer);
      expect(answer.status).toBe(431);
      expect(await connection.ends(5000)).toBe(true);
      connection.close();
    },
  );

  test('wants exactly one Host from HTTP/1.1, and none from HTTP/1.0', async () => {
    const { Authorization } = hostile.authorization;
    const line = (version: string, hosts: string) =>
      `GET ${SESSIONS} HTTP/${version}\r\n${hosts}Authorization: ${Authorization}\r\n\r\n`;
    for (const hosts of ['', 'Host: a\r\nHost: b\r\n', 'Host: a\r\nhOST: a\r\n'])
      await hostile.refuses(profile, line('1.1', hosts), 400);
    await hostile.refuses(profile, line('1.0', 'Host: a\r\nHost: b\r\n'), 400);
    for (const hosts of ['', 'Host: a\r\n']) {
      const connection = await hostile.open(profile);
      const answer = await connection.send(line('1.0', hosts)).answer();
      expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
      expect(await connection.ends(5000)).toBe(true);
      connection.close();
    }
  });

  test('serves a target in absolute form as the path in it', async () => {
    const answer = await hostile.send(
      profile,
      request('GET', `http://gateway.test${SESSIONS}`, hostile.authorization),
    );
    expect(answer.status).toBe(200);
  });

  test('never takes the body of a refused request for the next request', async () => {
    const smuggled = request('DELETE', `${SESSIONS}/${hostile.sessionId}`, hostile.authorization);
    const wrongs: [number, string, string, Record<string, string>][] = [
      [401, 'POST', SESSIONS, {}],
      [404, 'POST', '/api/v1/nowhere', hostile.authorization],
      [405, 'PUT', SESSIONS, hostile.authorization],
      [415, 'POST', SESSIONS, { ...hostile.authorization, 'Content-Type': 'text/plain' }],
      [400, 'POST', `${SESSIONS}?%zz`, hostile.authorization],
      [404, 'DELETE', `${SESSIONS}/sess_x`, hostile.authorization],
    ];
    for (const [status, method, target, headers] of wrongs) {
      const connection = await hostile.open(profile);
      connection.send(jsonRequest(method, target, headers, smuggled));
      connection.send(request('GET', SESSIONS, hostile.authorization));
      const answers = [await connection.answer(), await connection.answer()];
      expect(answers.map((answer) => answer.status)).toEqual([status, 200]);
      connection.close();
    }
  });

  test('answers a large body that it does not want while its sender still sends, and then ends the connection', async () => {
    const body = Buffer.alloc(8_000_000, 'x');
    const wrongs: [number, Record<string, string>][] = [
      [413, hostile.authorization],
      [401, {}],
      [415, { ...hostile.authorization, 'Content-Type': 'text/plain' }],
    ];
    for (const [status, headers] of wrongs) {
      const connection = await hostile.open(profile);
      const whole = jsonRequest('POST', SESSIONS, headers, body);
      const pieces = Array.from({ length: 9 }, (_, i) => whole.subarray(i * 1_000_000, (i + 1) * 1_000_000));
      await sendWithPauses(connection, pieces);
      const answer = await connection.answer({ withinMs: 5000 });
      expectRefusal(profile, answer);
      expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'close']);
      expect(await connection.ends(10_000)).toBe(true);
      connection.close();
    }
  });

  test('lets go of a refused connection whose other end neither closes nor falls silent', async () => {
    expect(await stubborn.get(profile)).toEqual([true, true, true]);
  });

  test('asks for a body only when it wants it (Expect: 100-continue)', async () => {
    const headers = (own: Record<string, string>, length: number) => ({
      ...own,
      'Content-Type': 'application/json',
      'Content-Length': String(length),
      Expect: '100-continue',
    });
    const refused: [number, Buffer][] = [
      [401, request('POST', SESSIONS, headers({}, 19))],
      [413, request('POST', SESSIONS, headers(hostile.authorization, MAX_BODY_BYTES + 1))],
      [404, request('POST', '/api/v1/nowhere', headers(hostile.authorization, 19))],
    ];
    for (const [status, bytes] of refused) await hostile.refuses(profile, bytes, status);
    const connection = await hostile.open(profile);
    connection.send(request('POST', SESSIONS, headers(hostile.authorization, 20)));
    expect((await connection.answer()).status).toBe(100);
    const answer = await connection.send('{"channel":"pigeon"}').answer();
    expectRefusal(profile, answer);
    expect(answer.status).toBe(400);
    connection.close();
    const other = { ...headers(hostile.authorization, 20), Expect: LONG };
    await hostile.refuses(profile, request('POST', SESSIONS, other, '{"channel":"pigeon"}'), 400);
  });

  test('answers what it understood before it refuses what it did not', async () => {
    const connection = await hostile.open(profile);
    const sound = request('GET', SESSIONS, hostile.authorization);
    connection.send(
      Buffer.concat([sound, sound, Buffer.from('and now for something completely different\r\n\r\n')]),
    );
    const answers: RawAnswer[] = [];
    for (let i = 0; i < 3; i++) answers.push(await connection.answer({ withinMs: 5000 }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect(await connection.ends(5000)).toBe(true);
    connection.close();
  });

  test('survives clients that go away in the middle of anything', async () => {
    const sound = request('GET', SESSIONS, hostile.authorization);
    const halfBody = request(
      'POST',
      SESSIONS,
      { ...hostile.authorization, 'Content-Type': 'application/json', 'Content-Length': '1000' },
      '{"a":',
    );
    const halfChunk = request(
      'POST',
      SESSIONS,
      { ...hostile.authorization, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
      '5\r\n{"a"',
    );
    const refused = request('POST', SESSIONS, { 'Content-Length': '99999999' }, 'x'.repeat(100_000));
    const connect = 'CONNECT example.test:443 HTTP/1.1\r\nHost: example.test\r\n\r\n';
    const garbage = 'garbage\r\n\r\n';
    const behind = [
      connect,
      garbage,
      request('GET', SESSIONS, { Connection: 'upgrade', Upgrade: 'foo' }),
    ].map((next) => Buffer.concat([sound, Buffer.from(next)]));
    const corpus = [
      '',
      sound,
      sound.subarray(0, 30),
      halfBody,
      halfChunk,
      refused,
      connect,
      garbage,
      ...behind,
    ];
    for (const bytes of corpus) {
      for (const waitMs of [0, 0, 20]) {
        const connection = await hostile.open(profile);
        connection.send(bytes);
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        connection.reset();
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  });

  test('RFC 9112, 9.3.2: handles the requests of a connection one after another, and forgets those that wait when it ends', async () => {
    const session = await newSession(hostile.gateway[profile]);
    await hostile.settle();
    const connection = await hostile.open(profile);
    const endless = { ...hostile.authorization, Accept: 'text/event-stream' };
    connection.send(request('GET', `${SESSIONS}/${session}/messages`, endless));
    expect((await connection.answer()).headers.get('content-type')).toContain('event-stream');
    const id = `waits-${profile}`;
    const waits = { ...hostile.authorization, 'X-Request-Id': id };
    connection.send(request('DELETE', `${SESSIONS}/${session}`, waits));
    connection.send(request('GET', SESSIONS, waits));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await hostile.gateway[profile].get(`/sessions/${session}`)).status).toBe(200);
    connection.reset();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await hostile.gateway[profile].get(`/sessions/${session}`)).status).toBe(200);
    expect(hostile.gateway.logLines.filter((line) => line.includes(id))).toEqual([]);
  });

  test('answers a hundred requests that were sent ahead, refuses the rest, and ends the connection', async () => {
    const connection = await hostile.open(profile);
    const sent = 180;
    connection.send(Buffer.concat(Array<Buffer>(sent).fill(health)));
    const answers: RawAnswer[] = [];
    while (answers.at(-1)?.status !== 400 && answers.length < sent)
      answers.push(await connection.answer({ withinMs: 20_000 }));
    const refusal = answers.pop();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.length).toBeGreaterThan(100);
    expect([refusal?.status, refusal?.text]).toEqual([
      400,
      expect.stringContaining('Too many requests wait on this connection.'),
    ]);
    expect(await connection.ends(5000)).toBe(true);
    connection.close();
  });

  test('ends a connection that sends thousands ahead at once', async () => {
    const connection = await hostile.open(profile);
    connection.send(Buffer.concat(Array<Buffer>(3000).fill(health)));
    expect(await connection.ends(5000)).toBe(true);
    connection.close();
  });

  test('logs neither warning nor error for a request that was cut off: it is the caller whose connection ended', async () => {
    const before = hostile.gateway.logLines.length;
    const connection = await hostile.open(profile);
    connection.send(
      request(
        'POST',
        SESSIONS,
        { ...hostile.authorization, 'Content-Type': 'application/json', 'Content-Length': '1000' },
        '{"a":',
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    connection.reset();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const lines = hostile.gateway.logLines.slice(before);
    expect(lines.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
  });

  test('answers an Upgrade that it does not know like any request, or refuses it', async () => {
    const headers = { ...hostile.authorization, Connection: 'Upgrade', Upgrade: 'h2c' };
    const answer = await hostile.send(profile, request('GET', SESSIONS, headers));
    if (answer.status !== 200) expectRefusal(profile, answer);
  });

  test('many connections that say nothing keep nobody from being answered', async () => {
    const silent = await Promise.all(Array.from({ length: 200 }, () => hostile.open(profile)));
    expect((await hostile.gateway[profile].get('/sessions')).status).toBe(200);
    for (const connection of silent) connection.close();
  });
});

test('the operations port answers the same corpus without falling over', async () => {
  const port = hostile.gateway.started.ports.operations;
  const corpus = [
    'garbage\r\n\r\n',
    request('GET', '/%zz'),
    request('GET', '/nowhere'),
    request('GET', '*'),
    request('POST', '/metrics'),
    request('GET', `/${'x'.repeat(9000)}`),
    'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
  ];
  for (const bytes of corpus) {
    const connection = await RawConnection.open(port);
    const answer = await connection.send(bytes).answer({ withinMs: 5000 });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(Object.keys(answer.body as object)).toEqual(['error']);
    connection.close();
  }
});

test('headers that never end are answered with 408, and their connection ends', async () => {
  const answer = await slow.answer({ withinMs: HEADERS_END_MS });
  expectRefusal('b', answer);
  expect(answer.status).toBe(408);
  expect(await slow.ends(5000)).toBe(true);
});
