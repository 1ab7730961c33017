import { Logs } from '../../src/platform/logging/logger.js';
import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

interface EntryA {
  readonly timestamp: string;
  readonly level: string;
  readonly component: string;
  readonly message: string;
  readonly session_id?: string;
}
type EntryB = Omit<EntryA, 'component'> & { readonly module: string };
interface Listed<Entry> {
  readonly entries: Entry[];
  readonly total: number;
}

/** ISO 8601 in UTC with milliseconds. */
const anyTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ env: { GATEWAY__LOGGING__LEVEL: 'trace' } });
});
afterAll(() => gateway.stop());

const logger = (module: string) => gateway.started.app.get(Logs).for(module);

/** Waits until the lines logged so far can be read. */
async function stored(module: string, count: number): Promise<void> {
  await eventually(async () => {
    const { body } = await gateway.b.get<Listed<EntryB>>(`/logs?level=trace&module=${module}`);
    expect(body.total).toBe(count);
  });
}

describe('4.2 | GET | /logs | query: level (trace / debug / info / warn / error, default info), module (String, default all; for example agent, channel::telegram-style names), since (String, ISO 8601 timestamp or duration such as 1h or 30m; default one hour ago), limit (usize, default 100), stream (boolean, default false) | 200; object with entries and total; when stream is true a Server-Sent Events stream', () => {
  test('an entry has timestamp with milliseconds, level, module, message, and session_id only when it has one', async () => {
    logger('shape::one').info('first', { session_id: 'sess_1', attempt: 2, reason: 'two words' });
    logger('shape::one').warn('second');
    await stored('shape', 2);
    const { status, body } = await gateway.b.get<Listed<EntryB>>('/logs?module=shape');
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['entries', 'total']);
    expect(body.entries).toEqual([
      {
        timestamp: anyTime,
        level: 'info',
        module: 'shape::one',
        message: 'first attempt=2 reason="two words"',
        session_id: 'sess_1',
      },
      { timestamp: anyTime, level: 'warn', module: 'shape::one', message: 'second' },
    ]);
  });

  test('stream is false when left out: JSON, as with stream=false', async () => {
    for (const query of ['', '&stream=false']) {
      const { headers, body } = await gateway.b.get<Listed<EntryB>>(`/logs?module=shape${query}`);
      expect([headers.get('content-type'), body.total]).toEqual(['application/json; charset=utf-8', 2]);
    }
  });

  test('level is a minimum, info when left out', async () => {
    const words = ['trace', 'debug', 'info', 'warn', 'error'] as const;
    for (const word of words) logger('levels')[word](word);
    await stored('levels', 5);
    for (const [index, word] of words.entries()) {
      const { body } = await gateway.b.get<Listed<EntryB>>(`/logs?module=levels&level=${word}`);
      expect(body.entries.map(({ level }) => level)).toEqual(words.slice(index));
      expect(body.total).toBe(words.length - index);
    }
    const { body } = await gateway.b.get<Listed<EntryB>>('/logs?module=levels');
    expect(body.entries.map(({ level }) => level)).toEqual(['info', 'warn', 'error']);
  });

  test('module covers itself and what is below it, never a longer word', async () => {
    logger('chan').info('itself');
    logger('chan::telegram').info('below');
    logger('chan::telegram::poll').info('further below');
    logger('channelling').info('another word');
    await stored('chan', 3);
    const messages = async (module: string) => {
      const { body } = await gateway.b.get<Listed<EntryB>>(`/logs?module=${module}`);
      return body.entries.map(({ message }) => message);
    };
    expect(await messages('chan')).toEqual(['itself', 'below', 'further below']);
    expect(await messages('chan::telegram')).toEqual(['below', 'further below']);
    expect(await messages('chan::tele')).toEqual([]);
    expect(await messages('chan%25')).toEqual([]);
  });

  test('every module is there when module is left out', async () => {
    logger('one::part').info('of one');
    logger('two').info('of two');
    await stored('one', 1);
    await stored('two', 1);
    const { body } = await gateway.b.get<Listed<EntryB>>('/logs?limit=500');
    expect(body.entries.map(({ message }) => message)).toEqual(expect.arrayContaining(['of one', 'of two']));
  });

  test('limit gives the newest lines, oldest first, and total counts all that match', async () => {
    for (let n = 1; n <= 5; n++) logger('limits').info(`line ${n}`);
    await stored('limits', 5);
    const { body } = await gateway.b.get<Listed<EntryB>>('/logs?module=limits&limit=2');
    expect(body.entries.map(({ message }) => message)).toEqual(['line 4', 'line 5']);
    expect(body.total).toBe(5);
    const none = await gateway.b.get<Listed<EntryB>>('/logs?module=limits&limit=0');
    expect(none.body).toEqual({ entries: [], total: 5 });
  });

  test('limit is 100 when left out, and above 500 is served as 500', async () => {
    for (let n = 1; n <= 510; n++) logger('many').info(`line ${n}`);
    await stored('many', 510);
    const usual = await gateway.b.get<Listed<EntryB>>('/logs?module=many');
    expect(usual.body.entries).toHaveLength(100);
    expect(usual.body.entries.at(-1)?.message).toBe('line 510');
    const most = await gateway.b.get<Listed<EntryB>>('/logs?module=many&limit=9007199254740991');
    expect(most.body.entries).toHaveLength(500);
    expect(most.body.total).toBe(510);
  });

  test('since takes ISO 8601 with any offset and durations, and is one hour ago when left out', async () => {
    logger('times').info('now');
    await stored('times', 1);
    await gateway.database.query(
      `WITH head AS (UPDATE log_head SET last_id = last_id + 2 RETURNING last_id)
       INSERT INTO log_entries SELECT last_id + 1 - n, now() - n * interval '45 minutes', 30, 'times', 'ago ' || n, null
       FROM head, (VALUES (2), (1)) AS ago (n)`,
    );
    const messages = async (since: string) => {
      const { status, body } = await gateway.b.get<Listed<EntryB>>(`/logs?module=times${since}`);
      expect(status).toBe(200);
      expect(body.total).toBe(body.entries.length);
      return body.entries.map(({ message }) => message);
    };
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    expect(await messages('')).toEqual(['ago 1', 'now']);
    expect(await messages('&since=30m')).toEqual(['now']);
    expect(await messages('&since=3600s')).toEqual(['ago 1', 'now']);
    expect(await messages('&since=2h')).toEqual(['ago 2', 'ago 1', 'now']);
    expect(await messages('&since=1d')).toEqual(['ago 2', 'ago 1', 'now']);
    expect(await messages('&since=99999999999999999999d')).toEqual(['ago 2', 'ago 1', 'now']);
    expect(await messages(`&since=${ago(60).toISOString()}`)).toEqual(['ago 1', 'now']);
    const inOffset = ago(60 - 330)
      .toISOString()
      .replace('Z', '%2B05:30');
    expect(await messages(`&since=${inOffset}`)).toEqual(['ago 1', 'now']);
  });

  test.each([
    'level=fatal',
    'level=INFO',
    'level=',
    'level=info&level=warn',
    'limit=-1',
    'limit=1.5',
    'limit=',
    'since=yesterday',
    'since=1w',
    'since=1h30m',
    'since=-1h',
    'since=%201h',
    'since=',
    'since=2026-02-30T00:00:00Z',
    'since=2026-01-01T00:00:00+01:00',
    'since=2026-01-01T25:00:00Z',
    'since=1h&since=2h',
    'stream=yes',
    'stream=1',
    'stream=TRUE',
    'module=',
    'module=two%20words',
    'component=agent',
    'offset=1',
  ])('a bad query is 400: %s', async (query) => {
    const { status, body } = await gateway.b.get<{ error: { code: string } }>(`/logs?${query}`);
    expect(status).toBe(400);
    expect(body.error.code).toBe('bad_request');
  });
});

describe('4.1 | GET | /logs | query: level (debug / info / warn / error; minimum level), limit (usize, default 100), since (String, ISO 8601), component (String, for example agent, gateway, memory) | log entries; response shape not shown', () => {
  test('an entry names its component, the first segment of the module', async () => {
    logger('comp::part').info('something', { session_id: 'sess_2' });
    logger('comp').error('something else');
    await stored('comp', 2);
    const { status, body } = await gateway.a.get<Listed<EntryA>>('/logs?component=comp');
    expect(status).toBe(200);
    expect(body).toEqual({
      entries: [
        {
          timestamp: anyTime,
          level: 'info',
          component: 'comp',
          message: 'something',
          session_id: 'sess_2',
        },
        { timestamp: anyTime, level: 'error', component: 'comp', message: 'something else' },
      ],
      total: 2,
    });
  });

  test('level is a minimum of its four words; left out it leaves nothing out of them', async () => {
    for (const word of ['trace', 'debug', 'info', 'warn', 'error'] as const) logger('levelsa')[word](word);
    await stored('levelsa', 5);
    const levels = async (query: string) => {
      const { body } = await gateway.a.get<Listed<EntryA>>(`/logs?component=levelsa${query}`);
      return body.entries.map(({ level }) => level);
    };
    expect(await levels('')).toEqual(['debug', 'info', 'warn', 'error']);
    expect(await levels('&level=debug')).toEqual(['debug', 'info', 'warn', 'error']);
    expect(await levels('&level=warn')).toEqual(['warn', 'error']);
  });

  test('component is one segment, compared as a whole', async () => {
    for (const module of ['whole::part', 'whole', 'wholesale']) logger(module).info(module);
    await stored('whole', 2);
    await stored('wholesale', 1);
    const { body } = await gateway.a.get<Listed<EntryA>>('/logs?component=whole');
    expect(body.entries.map(({ message }) => message)).toEqual(['whole::part', 'whole']);
  });

  test('limit gives the newest lines, is 100 when left out, and above 500 is served as 500', async () => {
    for (let n = 1; n <= 510; n++) logger('manya').info(`line ${n}`);
    await stored('manya', 510);
    for (const [query, length] of [
      ['', 100],
      ['&limit=3', 3],
      ['&limit=501', 500],
    ] as const) {
      const { body } = await gateway.a.get<Listed<EntryA>>(`/logs?component=manya${query}`);
      expect([body.entries.length, body.entries.at(-1)?.message, body.total]).toEqual([
        length,
        'line 510',
        510,
      ]);
    }
  });

  test('since is an instant in ISO 8601', async () => {
    await gateway.database.query(
      `WITH head AS (UPDATE log_head SET last_id = last_id + 1 RETURNING last_id)
       INSERT INTO log_entries SELECT last_id, now() - interval '45 minutes', 30, 'instants', 'ago', null FROM head`,
    );
    const since = async (minutes: number) => {
      const instant = new Date(Date.now() - minutes * 60_000).toISOString();
      const { body } = await gateway.a.get<Listed<EntryA>>(`/logs?component=instants&since=${instant}`);
      return body.total;
    };
    expect([await since(60), await since(30)]).toEqual([1, 0]);
  });

  test('without since everything that is kept is looked at', async () => {
    await gateway.database.query(
      `WITH head AS (UPDATE log_head SET last_id = last_id + 1 RETURNING last_id)
       INSERT INTO log_entries SELECT last_id, now() - interval '3 days', 30, 'old', 'old', null FROM head`,
    );
    const all = await gateway.a.get<Listed<EntryA>>('/logs?component=old');
    expect(all.body.total).toBe(1);
    const recent = await gateway.a.get<Listed<EntryA>>('/logs?component=old&since=2d');
    expect(recent.body).toEqual({ entries: [], total: 0 });
  });

  test.each([
    'level=trace',
    'level=Warn',
    'since=soon',
    'limit=ten',
    'component=',
    'module=agent',
    'stream=true',
  ])('a bad query is 400: %s', async (query) => {
    const { status, body } = await gateway.a.get<{ error: { code: string } }>(`/logs?${query}`);
    expect(status).toBe(400);
    expect(body.error.code).toBe('bad_request');
  });

  test('there is no stream in Profile A', async () => {
    expect((await gateway.a.get('/logs/stream')).status).toBe(404);
  });
});

describe('who may read logs', () => {
  test.each(['a', 'b'] as const)('profile %s asks for logs:read', async (profile) => {
    const other = await gateway.mint({ scopes: ['status:read'] });
    const right = await gateway.mint({ scopes: ['logs:read'] });
    expect((await gateway.caller(profile, undefined).get('/logs')).status).toBe(401);
    expect((await gateway.caller(profile, other).get('/logs')).status).toBe(403);
    expect((await gateway.caller(profile, right).get('/logs')).status).toBe(200);
  });

  test('a token that sees one user only is refused: lines speak of all of them', async () => {
    const bound = await gateway.mint({ user: 'ada' });
    expect((await gateway.caller('a', bound).get('/logs')).status).toBe(403);
    expect((await gateway.caller('b', bound).get('/logs')).status).toBe(403);
  });
});
