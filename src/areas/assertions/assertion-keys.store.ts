import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

import { ADVISORY_LOCKS } from '../../platform/database/advisory-locks.js';
import { Database } from '../../platform/database/database.js';
import { columnsOf } from '../../platform/database/entity-columns.js';
import { boolean, json, text } from '../../platform/database/sql-types.js';
import { statement } from '../../platform/database/statement.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { AssertionKeyEntity } from './assertion-key.entity.js';

/** How long a key signs. */
const SIGNING_DAYS = 30;
/** A key is published this long before and after it signs, so that a verifier with a cached key set has it. */
const PUBLISHED_HOURS = 24;

const ALL = statement({
  name: 'assertion_keys.all',
  params: {},
  row: { ...columnsOf(AssertionKeyEntity, 'kid', 'publicKey', 'sealedKey'), signs: boolean },
  sql: `SELECT kid, public_key, sealed_key, signs_at <= now() AS signs FROM assertion_keys ORDER BY signs_at, kid`,
});

/** Whether the next key is to be made: there is none, or the last one has signed almost long enough. */
const IS_DUE = statement({
  name: 'assertion_keys.is_due',
  params: {},
  row: { due: boolean },
  sql: `SELECT NOT EXISTS (SELECT 1 FROM assertion_keys
    WHERE signs_at > now() - interval '${SIGNING_DAYS} days' + interval '${PUBLISHED_HOURS} hours') AS due`,
});

/** The first key signs at once; the next ones when every key set that was fetched before has been fetched anew. */
const ADD = statement({
  name: 'assertion_keys.add',
  params: { kid: text, publicKey: json(), sealedKey: text },
  row: {},
  sql: `INSERT INTO assertion_keys (kid, public_key, sealed_key, signs_at)
    SELECT :kid, :publicKey::json, :sealedKey, CASE WHEN EXISTS (SELECT 1 FROM assertion_keys)
      THEN now() + interval '${PUBLISHED_HOURS} hours' ELSE now() END`,
});

/** Keys whose successor has signed for so long that none of their signatures is valid any more. */
const REMOVE_OLD = statement({
  name: 'assertion_keys.remove_old',
  params: {},
  row: {},
  sql: `DELETE FROM assertion_keys AS old WHERE EXISTS (SELECT 1 FROM assertion_keys AS next
    WHERE next.signs_at > old.signs_at AND next.signs_at < now() - interval '${PUBLISHED_HOURS} hours')`,
});

const LOCK = statement({
  name: 'assertion_keys.lock',
  params: {},
  row: {},
  sql: `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.rotatingAssertionKeys})`,
});

/** A key that is published. */
export interface AssertionKey {
  readonly kid: string;
  readonly publicKey: JWK;
  /** The private half; sealed keys are opened by `AssertionKeysStore` alone. */
  readonly privateKey: JWK;
  /** Whether it may sign already. */
  readonly signs: boolean;
}

/** The keys of assertions, which all replicas share; their private halves are sealed under the master key. */
@Injectable()
export class AssertionKeysStore {
  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /**
   * Makes the next key when it is due, once over all replicas.
   * @returns all keys, oldest first. Throws `CannotOpen`
   */
  async current(): Promise<readonly AssertionKey[]> {
    const [row] = await this.database.query(IS_DUE);
    if (row?.due === true) await this.rotate();
    const rows = await this.database.query(ALL);
    return rows.map(({ kid, public_key: publicKey, sealed_key: sealed, signs }) => {
      const privateKey = JSON.parse(this.box.open(sealed, contextOf(kid))) as JWK;
      return { kid, publicKey, privateKey, signs };
    });
  }

  private async rotate(): Promise<void> {
    const kid = randomUUID();
    const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
    const shown = { ...(await exportJWK(publicKey)), kid, alg: 'EdDSA', use: 'sig' };
    const sealed = this.box.seal(JSON.stringify(await exportJWK(privateKey)), contextOf(kid));
    await this.database.transaction(async (runner) => {
      await runner.query(LOCK);
      const [row] = await runner.query(IS_DUE);
      if (row?.due === true) {
        await runner.query(ADD, { kid, publicKey: JSON.stringify(shown), sealedKey: sealed });
      }
      await runner.query(REMOVE_OLD);
    });
  }
}

function contextOf(kid: string): string {
  return `assertion-key:${kid}`;
}
