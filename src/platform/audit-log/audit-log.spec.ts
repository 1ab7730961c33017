import type { Database } from '../database/database.js';
import { Logs, silentLogs } from '../logging/logger.js';
import { Redactor } from '../logging/redactor.js';
import { AuditLog } from './audit-log.js';

const ENTRY = { action: 'token.created', actor: 'ada', target: 'tok_1', outcome: 'success' } as const;

/** The details that are stored. */
async function written(
  details: Readonly<Record<string, unknown>>,
  redactor = new Redactor(),
): Promise<unknown> {
  let written = '';
  const runner = {
    query: async (_statement: unknown, params: { details: string }) => {
      written = params.details;
      return [];
    },
  };
  const log = new AuditLog({} as Database, redactor, silentLogs);
  await log.write(runner as never, { ...ENTRY, details });
  return JSON.parse(written);
}

test('numbers, booleans and null are kept; anything else becomes text', async () => {
  expect(await written({ n: 1, b: false, none: null, text: 'x', list: ['a', { b: 1 }] })).toEqual({
    ...{ n: 1, b: false, none: null, text: 'x' },
    list: '["a",{"b":1}]',
  });
});

test('a detail that is too long is cut, and secrets are removed wherever they stand', async () => {
  const redactor = new Redactor();
  redactor.add('a-secret-of-somebody');
  expect(await written({ deep: { k: ['a-secret-of-somebody'] } }, redactor)).toEqual({
    deep: '{"k":["***REDACTED***"]}',
  });
  const { long } = (await written({ long: 'x '.repeat(5000) })) as { long: string };
  expect([long.length, long.at(-1)]).toEqual([4096, '…']);
});

test.each([
  [new Error('no database'), 'no database'],
  ['no words', 'no words'],
])(
  'a record that cannot be written is logged as an error, and the action still succeeds (%s)',
  async (failure, sentence) => {
    const lines: unknown[] = [];
    class Noted extends Logs {
      for() {
        return {
          ...silentLogs.for('audit'),
          error: (message: string, fields?: object) => void lines.push([message, fields]),
        };
      }
      setLevel(): void {
        // Everything is noted.
      }
      copyTo(): void {
        // Nobody else listens.
      }
    }
    const database = { query: jest.fn().mockRejectedValue(failure) };
    await new AuditLog(database as unknown as Database, new Redactor(), new Noted()).record(ENTRY);
    expect(lines).toEqual([['an audit entry could not be written', { ...ENTRY, error: sentence }]]);
  },
);
