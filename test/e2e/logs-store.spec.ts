import { createDataSource } from '../../ormconfig.js';
import { Unavailable } from '../../src/common/errors/gateway-error.js';
import { ADVISORY_LOCKS } from '../../src/platform/database/advisory-locks.js';
import type { PooledDataSource } from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { JsonLogs } from '../../src/platform/logging/json-logs.js';
import { LogStore } from '../../src/platform/logging/log.store.js';
import { LogWriter } from '../../src/platform/logging/log-writer.js';
import { Redactor } from '../../src/platform/logging/redactor.js';
import type { StoredLine } from '../../src/platform/logging/stored-line.js';
import { Environment } from '../../src/platform/settings/environment.js';
import { FixedSettings, type Settings } from '../../src/platform/settings/settings.js';
import { loadSettings } from '../../src/platform/settings/settings-loader.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { eventually } from '../harness/eventually.js';

let database: TestDatabase;
let dataSource: PooledDataSource;
let store: LogStore;

beforeEach(async () => {
  database = await createTestDatabase();
  dataSource = await createDataSource(
    { url: database.directUrl },
    { size: 5, connectTimeoutMs: 5000, statementTimeoutMs: 30_000, onIdleError: () => undefined },
  ).initialize();
  store = new LogStore(new Database(dataSource));
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

const line = (message: string, at = new Date()): StoredLine => ({
  at,
  rank: 30,
  module: 'm',
  message,
  sessionId: null,
});

const rows = () =>
  database.query<{ id: string; message: string }>('SELECT id, message FROM log_entries ORDER BY id');
const messages = async () => (await rows()).map(({ message }) => message);

describe('the numbers of lines', () => {
  test('follow each other without gaps, in the order in which they become visible, whoever writes', async () => {
    const seen: number[] = [];
    let cursor = 0;
    const written = new AbortController();
    const reading = (async () => {
      while (!written.signal.aborted || cursor < (await store.head())) {
        const { entries } = await store.next(cursor, 500);
        seen.push(...entries.map(({ id }) => id));
        cursor = entries.at(-1)?.id ?? cursor;
      }
    })();
    await Promise.all(
      ['a', 'b', 'c'].map(async (writer) => {
        for (let batch = 1; batch <= 40; batch++) {
          await store.append(writer, batch, [line(`${writer}${batch}.1`), line(`${writer}${batch}.2`)]);
        }
      }),
    );
    written.abort();
    await reading;
    expect(seen).toEqual(Array.from({ length: 240 }, (_line, index) => index + 1));
  });

  test('a batch is stored once, however often it is sent, also while its first sending still runs', async () => {
    await Promise.all([1, 2, 3, 4].map(() => store.append('w', 1, [line('one'), line('two')])));
    await store.append('w', 1, [line('one'), line('two')]);
    await store.append('w', 2, [line('three')]);
    await store.append('other', 1, [line('four')]);
    expect(await messages()).toEqual(['one', 'two', 'three', 'four']);
  });

  test('a transaction that never ends, anywhere, holds up neither writers nor readers', async () => {
    const stuck = dataSource.createQueryRunner();
    await stuck.startTransaction();
    await stuck.query('CREATE TABLE something_long (n int)');
    await store.append('w', 1, [line('one')]);
    expect((await store.next(0, 10)).entries).toHaveLength(1);
    await stuck.rollbackTransaction();
    await stuck.release();
  });
});

describe('retention', () => {
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

  test('takes the oldest by age, some at a time, and never leaves a hole', async () => {
    const old = Array.from({ length: 7 }, (_line, n) => line(`old ${n}`, daysAgo(8)));
    await store.append('w', 1, [...old, line('young', daysAgo(6)), line('late', daysAgo(8)), line('new')]);
    expect(await store.trim(7, 1000, 5)).toBe(5);
    expect(await store.trim(7, 1000, 5)).toBe(2);
    expect(await store.trim(7, 1000, 5)).toBe(0);
    expect(await messages()).toEqual(['young', 'late', 'new']);
  });

  test('a clock that is ahead does not keep lines alive', async () => {
    await store.append('w', 1, [
      line('from the future', daysAgo(-400)),
      line('old', daysAgo(8)),
      line('new'),
    ]);
    await store.trim(7, 1000, 5000);
    expect(await messages()).toEqual(['new']);
  });

  test('takes what is too many', async () => {
    await store.append(
      'w',
      1,
      [1, 2, 3, 4, 5].map((n) => line(`line ${n}`)),
    );
    expect(await store.trim(7, 2, 5000)).toBe(3);
    expect(await messages()).toEqual(['line 4', 'line 5']);
  });

  test('everything may go, and numbers go on after it', async () => {
    await store.append('w', 1, [line('old', daysAgo(9))]);
    expect(await store.trim(7, 1000, 5000)).toBe(1);
    await store.append('w', 2, [line('new')]);
    expect(await rows()).toEqual([{ id: '2', message: 'new' }]);
    expect((await store.page({ minLevel: 'info' }, 0, 2, 10)).firstKept).toBe(2);
  });

  test('one process at a time does it', async () => {
    await store.append('w', 1, [line('old', daysAgo(9))]);
    const other = dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query(`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.trimmingLogs})`);
    expect(await store.trim(7, 1000, 5000)).toBe(0);
    await other.rollbackTransaction();
    await other.release();
    expect(await store.trim(7, 1000, 5000)).toBe(1);
  });
});

/** A store whose database does what the test says. */
class FaultyStore extends LogStore {
  fault: 'none' | 'away' | 'answer lost' | 'refuses' = 'none';
  refused = 0;

  override async append(writer: string, batch: number, lines: readonly StoredLine[]): Promise<void> {
    if (this.fault === 'away') throw new Unavailable('The database cannot be reached.');
    if (this.fault === 'refuses') {
      this.refused += 1;
      throw new Error('value out of range');
    }
    await super.append(writer, batch, lines);
    if (this.fault === 'answer lost') throw new Unavailable('Connection terminated');
  }
}

describe('the writer', () => {
  let faulty: FaultyStore;
  let logs: JsonLogs;
  let writer: LogWriter;
  let output: string[];

  beforeEach(() => {
    faulty = new FaultyStore(new Database(dataSource));
    output = [];
    logs = new JsonLogs({ level: 'debug', redactor: new Redactor(), write: (text) => output.push(text) });
    writer = new LogWriter(faulty, settings({ GATEWAY__LOGGING__STORE_LEVEL: 'info' }), logs);
  });
  afterEach(() => writer.stop(1000));

  function settings(env: Record<string, string>): Settings {
    const environment = new Environment({ DATABASE_URL: database.url, ...env });
    return new FixedSettings(loadSettings({ environment }).settings);
  }

  test('keeps lines from the store level on, in their order, within moments', async () => {
    for (let n = 1; n <= 2500; n++) logs.for('m').info(`line ${n}`);
    logs.for('m').debug('only written');
    await eventually(async () => expect(await messages()).toHaveLength(2500));
    expect(await messages()).toEqual(Array.from({ length: 2500 }, (_line, index) => `line ${index + 1}`));
    expect(output).toHaveLength(2501);
  });

  test('stores a batch once whose answer got lost', async () => {
    faulty.fault = 'answer lost';
    logs.for('m').info('once');
    await eventually(async () => expect(await messages()).toContain('once'));
    faulty.fault = 'none';
    logs.for('m').info('and on');
    await eventually(async () => expect(await messages()).toContain('and on'));
    expect((await messages()).filter((message) => message === 'once')).toHaveLength(1);
  });

  test('survives an outage: the newest lines are stored after it, and a line says how many were dropped', async () => {
    faulty.fault = 'away';
    for (let n = 1; n <= 12_000; n++) logs.for('m').info(`line ${n}`);
    await eventually(() => expect(output.join('')).toContain('log lines cannot be stored at the moment'));
    faulty.fault = 'none';
    await eventually(async () => expect((await messages()).at(-1)).toMatch(/^log lines were dropped/));
    const kept = await messages();
    const dropped = Number(/dropped=(\d+)$/.exec(kept.at(-1) ?? '')?.[1]);
    const lines = kept.filter((message) => message.startsWith('line '));
    expect(dropped).toBeGreaterThan(0);
    expect(lines.length + dropped).toBe(12_000);
    expect(lines.at(-1)).toBe('line 12000');
  }, 20_000);

  test('gives up a batch that the database refuses, says so, and goes on', async () => {
    faulty.fault = 'refuses';
    logs.for('m').info('refused');
    await eventually(() => expect(output.join('')).toContain('value out of range'));
    await eventually(() => expect(faulty.refused).toBeGreaterThanOrEqual(3));
    faulty.fault = 'none';
    logs.for('m').info('good');
    await eventually(async () =>
      expect((await messages()).join(' ')).toMatch(/were dropped.* dropped=[1-9]/),
    );
    expect(await messages()).toContain('good');
    expect(await messages()).not.toContain('refused');
  });

  test('stores what waits when it stops, and says how much it could not', async () => {
    logs.for('m').info('last words');
    expect(await writer.stop(5000)).toBe(0);
    expect(await messages()).toEqual(['last words']);
    logs.for('m').info('too late');
    const hopeless = new LogWriter(faulty, settings({}), logs);
    faulty.fault = 'away';
    logs.for('m').info('never');
    const startedAt = performance.now();
    expect(await hopeless.stop(500)).toBeGreaterThanOrEqual(1);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});
