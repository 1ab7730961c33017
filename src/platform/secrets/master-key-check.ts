import type { SqlRunner, Statement } from '../database/sql.js';
import { CannotOpen, type SecretBox } from './secret-box.js';

const CONTEXT = 'master-key-check';
const CHECK_TEXT = 'This database and this master key belong together.';

const FIND: Statement = { name: 'secrets.find_check', text: `SELECT sealed FROM master_key_check` };
const STORE: Statement = {
  name: 'secrets.store_check',
  text: `INSERT INTO master_key_check (id, sealed) VALUES (1, $1) ON CONFLICT DO NOTHING`,
};
/** The keys of the stored secrets, for a database from before there was a check: every sealed text names its key. */
const KEYS_IN_USE: Statement = {
  name: 'secrets.keys_in_use',
  text: `
    SELECT DISTINCT split_part(sealed, ':', 2) AS key FROM (
      SELECT secret AS sealed FROM hooks WHERE secret LIKE 'agw1:%'
      UNION ALL SELECT sealed FROM config_overrides WHERE sealed IS NOT NULL
    ) AS secrets`,
};

/** The master key is not the one that sealed the secrets of this database. */
class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey';

  constructor() {
    super(
      'The master key is not the one that the secrets in this database are sealed with: webhooks would leave with ' +
        'wrong signatures. Set GATEWAY_MASTER_KEY to the key of the other replicas, or to the content of the ' +
        'master.key in the data folder that was used so far. If that key is lost, docs/operations.md says how to go on.',
    );
  }
}

/**
 * Throws `WrongMasterKey` unless this box opens what the database holds. The first start on a database stores the check
 * that later ones are compared with.
 */
export async function claimMasterKey(database: SqlRunner, box: SecretBox): Promise<void> {
  if (await isChecked(database, box)) return;
  const keys = (await database.query<{ key: string }>(KEYS_IN_USE)).map(({ key }) => key);
  if (keys.length > 0 && !keys.includes(box.keyId)) throw new WrongMasterKey();
  await database.query(STORE, [box.seal(CHECK_TEXT, CONTEXT)]);
  // Of several that start at once with different keys, one has stored its own.
  await isChecked(database, box);
}

/** Whether there is a check. Throws `WrongMasterKey` when there is one that this box does not open. */
export async function isChecked(database: SqlRunner, box: SecretBox): Promise<boolean> {
  const [row] = await database.query<{ sealed: string }>(FIND);
  if (row === undefined) return false;
  try {
    box.open(row.sealed, CONTEXT);
    return true;
  } catch (error) {
    if (error instanceof CannotOpen) throw new WrongMasterKey();
    throw error;
  }
}
