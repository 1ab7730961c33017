import { columnsOf } from '../database/entity-columns.js';
import type { SqlRunner } from '../database/sql.js';
import { nullable, text } from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import { dueQuestion } from '../runtime/due-question.js';
import { MasterKeyCheckEntity } from './master-key-check.entity.js';
import { CannotOpen, type SecretBox } from './secret-box.js';

const CONTEXT = 'master-key-check';
const CHECK_TEXT = 'This database and this master key belong together.';

const FIND = statement({
  name: 'secrets.find_check',
  params: {},
  row: columnsOf(MasterKeyCheckEntity, 'sealed'),
  sql: `SELECT sealed FROM master_key_check`,
});
const STORE = statement({
  name: 'secrets.store_check',
  params: { sealed: text },
  row: {},
  sql: `INSERT INTO master_key_check (id, sealed) VALUES (1, :sealed) ON CONFLICT DO NOTHING`,
});
/** The keys of the stored secrets, for a database that is older than the check: every sealed text names its key. */
const KEYS_IN_USE = statement({
  name: 'secrets.keys_in_use',
  params: {},
  row: { key: text },
  sql: `
    SELECT DISTINCT split_part(sealed, ':', 2) AS key FROM (
      SELECT secret AS sealed FROM hooks WHERE secret LIKE 'agw1:%'
      UNION ALL SELECT sealed FROM config_overrides WHERE sealed IS NOT NULL
    ) AS secrets`,
});

/** The master key is not the one that sealed the secrets of this database. */
class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey';

  constructor() {
    super(
      'The master key is not the one that the secrets in this database are sealed with: webhooks would leave with ' +
        'wrong signatures. Set GATEWAY_MASTER_KEY to the key of the other replicas, or to the content of the ' +
        'master.key in the data folder that was used so far. To change the key, set the old one as ' +
        'GATEWAY_MASTER_KEY_PREVIOUS and run "agent-gateway secrets rotate". If that key is lost, docs/operations.md ' +
        'says how to go on.',
    );
  }
}

/**
 * Throws `WrongMasterKey` unless this box opens what the database holds. The first start on a database stores the check
 * that later starts are compared with.
 */
export async function claimMasterKey(database: SqlRunner, box: SecretBox): Promise<void> {
  if (await isChecked(database, box)) return;
  const keys = (await database.query(KEYS_IN_USE)).map(({ key }) => key);
  const known = keys.find((key) => box.sealWith(key));
  if (keys.length > 0 && known === undefined) throw new WrongMasterKey();
  await database.query(STORE, { sealed: box.seal(CHECK_TEXT, CONTEXT) });
  // When several replicas with different keys start at once, one of them has stored its own.
  await isChecked(database, box);
}

/**
 * Whether there is a check; the box then seals with the key that it names. Throws `WrongMasterKey` when this box cannot
 * open it.
 */
export async function isChecked(database: SqlRunner, box: SecretBox): Promise<boolean> {
  const [row] = await database.query(FIND);
  if (row === undefined) return false;
  try {
    box.open(row.sealed, CONTEXT);
    box.sealWith(keyIdOf(row.sealed));
    return true;
  } catch (error) {
    if (error instanceof CannotOpen) throw new WrongMasterKey();
    throw error;
  }
}

/** The id of the key that all replicas seal with; null before the first start. */
export const SEALING_KEY = dueQuestion({
  name: 'sealing_key',
  params: {},
  answer: nullable(text),
  sql: `(SELECT split_part(sealed, ':', 2) FROM master_key_check)`,
});

const REPLACE = statement({
  name: 'secrets.replace_check',
  params: { sealed: text },
  row: {},
  sql: 'UPDATE master_key_check SET sealed = :sealed',
});

/**
 * Makes the master key the one that all replicas seal with; they follow within a second. @returns the id of the
 * previous key
 */
export async function replaceCheck(runner: SqlRunner, box: SecretBox): Promise<string> {
  const [row] = await runner.query(FIND);
  if (row === undefined) throw new WrongMasterKey();
  const before = keyIdOf(row.sealed);
  box.sealWith(box.keyId);
  if (before !== box.keyId) await runner.query(REPLACE, { sealed: box.reseal(row.sealed, CONTEXT) });
  return before;
}

function keyIdOf(sealed: string): string {
  return sealed.split(':')[1] ?? '';
}
