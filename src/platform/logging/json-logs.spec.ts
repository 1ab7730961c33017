import fc from 'fast-check';
import { prettyLine } from './console-output.js';
import { JsonLogs, timestamps } from './json-logs.js';
import { inLogContext, outsideLogContext } from './log-context.js';
import { Redactor } from './redactor.js';

function logsInto(lines: string[], redactor = new Redactor()): JsonLogs {
  return new JsonLogs({ level: 'info', redactor, write: (line) => lines.push(line) });
}

/** Whatever ends a line or steers a terminal, in any of the ways a terminal takes it. */
const STEERING = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

test('a line has level, time, module, fields and message', () => {
  const lines: string[] = [];
  logsInto(lines).for('agent::turn').warn('something', { session_id: 'sess_1', attempt: 2 });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.endsWith('\n')).toBe(true);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'warn',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    module: 'agent::turn',
    session_id: 'sess_1',
    attempt: 2,
    message: 'something',
  });
});

test('one message is one line without terminal codes, as JSON and pretty', () => {
  const attack = fc.string({
    unit: fc.constantFrom('\r', '\n', '\u001b[31m', '\u009b', '\u0085', '\u2028', '\u202e', 'a', '"', '{'),
  });
  fc.assert(
    fc.property(attack, attack, attack, attack, (module, message, key, value) => {
      const lines: string[] = [];
      logsInto(lines)
        .for(module)
        .info(message, { [`k${key}`]: value, nested: { [key]: [value] } });
      expect(lines).toHaveLength(1);
      const line = lines[0]?.slice(0, -1) ?? '';
      expect(line).not.toMatch(STEERING);
      expect(prettyLine(line, false)).not.toMatch(STEERING);
      const { message: told, module: from, [`k${key}`]: kept } = JSON.parse(line) as Record<string, string>;
      expect(`${told}${from}`).not.toMatch(STEERING);
      expect(kept).toBe(value);
    }),
  );
});

test('a field cannot replace a key of the line itself', () => {
  const lines: string[] = [];
  logsInto(lines)
    .for('real')
    .info('real', { level: 'error', module: 'fake', message: 'fake', timestamp: 'fake' });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'info',
    module: 'real',
    message: 'real',
    field_level: 'error',
    field_module: 'fake',
    field_message: 'fake',
    field_timestamp: 'fake',
  });
});

test('an error as a field is its sentence', () => {
  const lines: string[] = [];
  logsInto(lines)
    .for('m')
    .info('failed', { reason: new TypeError('no such thing') });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ reason: 'TypeError: no such thing' });
});

test('a value that JSON cannot represent loses neither the line nor the other fields', () => {
  const lines: string[] = [];
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const unwilling = {
    toJSON: () => {
      throw new Error('no');
    },
  };
  logsInto(lines)
    .for('m')
    .info('odd', { circle, unwilling, big: 12n, toJSON: () => 'all of the line', deep: { kept: [1] } });
  expect(lines).toHaveLength(1);
  const {
    circle: circular,
    unwilling: refused,
    ...rest
  } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  expect([circular, refused]).toEqual(Array(2).fill('(cannot be written as JSON)'));
  expect(rest).toMatchObject({ level: 'info', module: 'm', big: '12', deep: { kept: [1] }, message: 'odd' });
});

test('a secret is removed wherever it stands, and the line stays JSON', () => {
  const redactor = new Redactor();
  redactor.setFor('test', ['hunter2-hunter2', '1234567890', 'with "quotes" and \\']);
  const lines: string[] = [];
  logsInto(lines, redactor)
    .for('m::hunter2-hunter2')
    .info('hunter2-hunter2 and with "quotes" and \\', {
      'hunter2-hunter2': 'x',
      deep: { list: ['hunter2-hunter2', 1_234_567_890] },
      url: 'https://user:hunter2-hunter2@host/',
      port: 80,
    });
  expect(lines[0]).not.toMatch(/hunter2|1234567890|quotes/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ port: 80, level: 'info' });
});

test('below the level nothing is written, and the level changes for loggers that exist already', () => {
  const lines: string[] = [];
  const logs = logsInto(lines);
  const logger = logs.for('m');
  logger.debug('no');
  logs.setLevel('debug');
  logger.debug('yes');
  logger.trace('no');
  logs.setLevel('error');
  logger.warn('no');
  logger.error('yes');
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['yes', 'yes']);
});

test('lines carry the request and the session on whose behalf they are written, also after awaiting', async () => {
  const lines: string[] = [];
  const logger = logsInto(lines).for('m');
  await inLogContext({ request_id: 'req_1' }, async () => {
    await Promise.resolve();
    await inLogContext({ session_id: 'sess_1' }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      logger.info('both');
      logger.info('another', { session_id: 'sess_2' });
      outsideLogContext(() => logger.info('nobody'));
    });
    logger.info('request');
  });
  const seen = lines.map((line) => JSON.parse(line) as Record<string, string>);
  expect(seen.map(({ message, request_id, session_id }) => [message, request_id, session_id])).toEqual([
    ['both', 'req_1', 'sess_1'],
    ['another', 'req_1', 'sess_2'],
    ['nobody', undefined, undefined],
    ['request', 'req_1', undefined],
  ]);
});

test('a sink that is added later also gets the newest earlier lines', () => {
  const logs = logsInto([]);
  for (let n = 1; n <= 1001; n++) logs.for('m').info(`line ${n}`);
  const kept: [string, number][] = [];
  logs.copyTo((line, rank) => kept.push([(JSON.parse(line) as { message: string }).message, rank]));
  logs.for('m').error('now');
  expect(kept).toHaveLength(1001);
  expect(kept[0]).toEqual(['line 2', 30]);
  expect(kept.at(-1)).toEqual(['now', 50]);
});

test('times are written as Date does, in any order', () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
  const near = moment.chain((from) => fc.array(fc.integer({ min: from, max: from + 3000 })));
  fc.assert(
    fc.property(near, (moments) => {
      const write = timestamps();
      for (const at of moments) expect(write(at)).toBe(new Date(at).toISOString());
    }),
  );
});
