import { eventually } from '../harness/eventually.js';
import { startTestGateway, type TestGateway } from '../harness/gateway.js';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const NO_ROOM = 'could not extend file "base/16384/24601": No space left on device';

/** Makes the server refuse new rows and tables, as with a full disk. Reading still works. */
async function fillDisk(): Promise<void> {
  await gateway.database.query(`
    CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION '${NO_ROOM}' USING ERRCODE = 'disk_full'; END $$`);
  await gateway.database.query(`
    CREATE FUNCTION no_room_for_tables() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION '${NO_ROOM}' USING ERRCODE = 'disk_full'; END $$`);
  await gateway.database.query(
    `CREATE TRIGGER no_room BEFORE INSERT ON sessions FOR EACH STATEMENT EXECUTE FUNCTION no_room()`,
  );
  await gateway.database.query(
    `CREATE EVENT TRIGGER no_room_for_tables ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS', 'CREATE TABLE')
     EXECUTE FUNCTION no_room_for_tables()`,
  );
}

async function makeRoom(): Promise<void> {
  await gateway.database.query(`DROP EVENT TRIGGER no_room_for_tables`);
  await gateway.database.query(`DROP TRIGGER no_room ON sessions`);
}

interface Ready {
  readonly status: string;
  readonly details: { readonly database: { readonly status: string; readonly reason?: string } };
}
const readyz = () => gateway.operations.get<Ready>('/readyz');

test('a full disk is named in the answer, in /readyz and once in the log, until there is room again', async () => {
  expect((await readyz()).status).toBe(200);
  await fillDisk();
  const refused = await gateway.b.post<{ error: { message: string; details: object } }>('/sessions', {});
  expect(refused.status).toBe(503);
  expect(refused.body.error).toMatchObject({
    code: 'internal_error',
    message: expect.stringContaining("database's disk is full") as string,
    details: { reason: 'database_disk_full' },
  });
  expect(refused.headers.get('retry-after')).toBe('30');
  await gateway.a.post('/sessions', {});
  await eventually(async () => {
    const { status, body } = await readyz();
    expect([status, body.details.database]).toEqual([
      503,
      { status: 'down', reason: 'its disk is full: nothing can be stored' },
    ]);
  });
  expect((await gateway.b.get('/sessions')).status).toBe(200);
  expect((await gateway.operations.get('/livez')).status).toBe(200);
  const lines = () => gateway.logLines.filter((line) => line.includes('disk'));
  expect(lines().filter((line) => line.includes('disk is full: whatever'))).toHaveLength(1);
  expect(lines().join()).toContain('No space left on device');

  await makeRoom();
  await eventually(async () => expect((await readyz()).status).toBe(200));
  expect((await gateway.b.post('/sessions', {})).status).toBe(201);
  expect(lines().at(-1)).toContain('has room on its disk again');
});
