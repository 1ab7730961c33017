import { personOf, personParams } from '../../src/areas/privacy/person.js';
import { PLANNED_TABLES } from '../../src/areas/privacy/plan.sql.js';
import type { Database } from '../../src/platform/database/database.js';
import { valuesGiven } from '../../src/platform/database/statement.js';
import { createTestDatabase, type TestDatabase } from '../harness/database.js';
import { rowsRead } from '../harness/rows-read.js';

const OTHERS = 5000;
/** More than one statement deletes at once. */
const SAID_IN_GROUP = 300;
const OF_ADA = SAID_IN_GROUP / 15;
/** Has one session, and sometimes writes in the group. */
const ada = personParams(personOf('ada', Buffer.from('any')));
/** Writes every other message in the group. */
const bob = personParams(personOf('bob', Buffer.from('any')));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  // One session of Ada's among those of others, and a session in which three people write.
  await database.query(
    `INSERT INTO sessions (id, channel, user_id, status, metadata)
     SELECT 'sess_' || n, 'api', CASE n WHEN 1 THEN 'ada' ELSE 'user-' || n END, 'terminated', '{}'::json FROM generate_series(1, ${OTHERS}) AS n
     UNION ALL SELECT 'sess_group', 'slack', 'slack:team', 'active', '{}'`,
  );
  await database.query(
    `INSERT INTO messages (id, session_id, turn_id, seq, role, content)
     SELECT 'msg_' || n || '_' || seq, 'sess_' || n, 'turn_' || n, seq, role, 'What was said.'
     FROM generate_series(1, ${OTHERS}) AS n, (VALUES (1, 'user'), (2, 'assistant')) AS said (seq, role)
     UNION ALL SELECT 'group_' || n || role, 'sess_group', 'group_' || n, n * 2 + place, role, 'What was said.'
     FROM (VALUES (0, 'user'), (1, 'assistant')) AS said (place, role), generate_series(1, ${SAID_IN_GROUP * 2}) AS n`,
  );
  await database.query(
    `INSERT INTO turns (id, session_id, user_message_id, status)
     SELECT turn_id, session_id, id, 'completed' FROM messages WHERE role = 'user'`,
  );
  await database.query(
    `INSERT INTO channel_messages (channel, conversation, external_id, message_id, user_id, content, target)
     SELECT 'slack', 'team', n::text, 'group_' || n || 'user', CASE WHEN n % 2 = 0 THEN 'bob' WHEN n % 30 = 1 THEN 'ada' ELSE 'tom' END, '', '{}'::json
     FROM generate_series(1, ${SAID_IN_GROUP * 2}) AS n
     UNION ALL SELECT 'slack', 'other', 'other_' || n, 'other_' || n, 'user-' || n, '', '{}' FROM generate_series(1, ${OTHERS}) AS n`,
  );
  await database.query('ANALYZE');
});
afterAll(() => database.drop());

const planned = (table: string) => PLANNED_TABLES.find((one) => one.table === table)!;

/** Runs one of the plan's statements until it finds no more rows. */
async function eraseAll(table: string): Promise<void> {
  const { statement } = planned(table).erase!;
  const values = [...valuesGiven(statement, bob)];
  for (;;) {
    const [row] = await database.query<{ found: number; done: number }>(statement.text, values);
    expect(row?.done).toBe(row?.found);
    if (row?.found === 0) return;
  }
}

test.each(['turns', 'messages'])(
  'of %s, only the rows of the conversations of the person are read',
  async (table) => {
    const { rows, erase } = planned(table);
    const works: readonly (readonly [string, (counting: Database) => Promise<unknown>])[] = [
      ['count', (counting) => counting.query(rows!.count, ada)],
      ['find', (counting) => counting.query(rows!.places, ada)],
      ['delete', (counting) => counting.query(erase!.statement, ada)],
    ];
    for (const [what, work] of works)
      for (const searched of [table, 'channel_messages']) {
        const read = await rowsRead(database, searched, work);
        expect([what, searched, read < OTHERS]).toEqual([what, searched, true]);
      }
  },
);

test('of a conversation of several people, what the person said and was answered goes, however many batches it takes', async () => {
  for (const { table } of PLANNED_TABLES.filter(({ erase }) => erase !== undefined)) await eraseAll(table);
  const [left] = await database.query(
    `SELECT count(*) FILTER (WHERE substring(id, '\\d+')::int % 2 = 0)::int AS "ofBob",
       count(*) FILTER (WHERE substring(id, '\\d+')::int % 30 <> 1)::int AS "ofTom",
       (SELECT count(*)::int FROM turns WHERE session_id = 'sess_group' AND substring(id, '\\d+')::int % 2 = 0) AS "turnsOfBob"
     FROM messages WHERE session_id = 'sess_group'`,
  );
  expect(left).toEqual({ ofBob: 0, ofTom: SAID_IN_GROUP * 2 - 2 * OF_ADA, turnsOfBob: 0 });
  const [others] = await database.query(
    `SELECT count(*)::int AS messages FROM messages WHERE session_id NOT IN ('sess_group', 'sess_1')`,
  );
  expect(others).toEqual({ messages: (OTHERS - 1) * 2 });
});
