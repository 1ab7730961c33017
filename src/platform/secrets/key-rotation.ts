import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLog } from '../audit-log/audit-log.js';
import type { Database } from '../database/database.js';
import type { SqlRunner, TypedStatement } from '../database/sql.js';
import { arrayOf, double, jsonb, type SqlShape, text } from '../database/sql-types.js';
import { type RowOfStatement, statement } from '../database/statement.js';
import { replaceCheck } from './master-key-check.js';
import { CannotOpen, type SecretBox } from './secret-box.js';

/** A column that holds sealed texts. */
interface SealedColumn {
  readonly table: string;
  /** A text that names the row; part of the context. */
  readonly key: string;
  readonly column: string;
  /** What a text of this row is sealed for. */
  context(key: string): string;
  /** For sealed texts within JSON: names what each is sealed for. */
  readonly resealJson?: (value: unknown, reseal: (sealed: string, context: string) => string) => unknown;
}

/** Rows for each transaction. */
const ROWS_AT_ONCE = 200;
/** Replicas ask at least this often which key to seal with. */
const FOLLOWED_MS = 2000;

const TABLES = statement({
  name: 'secrets.tables',
  params: { tables: arrayOf(text) },
  row: { name: text },
  sql: 'SELECT name FROM unnest(:tables::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
});

/** A column that holds sealed texts, with the statements that seal them again. */
export interface SealedPlace extends SealedColumn {
  readonly count: TypedStatement<{ keyId: typeof text }, { n: typeof double }>;
  readonly page: TypedStatement<
    { keyId: typeof text; after: typeof text },
    { key: typeof text; sealed: typeof text }
  >;
  readonly update: TypedStatement<
    { key: typeof text; next: typeof text | ReturnType<typeof jsonb>; sealed: typeof text },
    SqlShape
  >;
}
type SealedRow = RowOfStatement<SealedPlace['page']>;

export function sealedPlace(place: SealedColumn): SealedPlace {
  const { table, key, column, resealJson } = place;
  const sealed = `${column}::text`;
  // A sealed text begins with the id of its key. Within JSON the id of any other key counts.
  const isOld =
    resealJson === undefined
      ? `${sealed} LIKE 'agw1:%' AND split_part(${sealed}, ':', 2) <> :keyId`
      : `regexp_replace(${sealed}, 'agw1:' || :keyId::text || ':', '', 'g') ~ '"agw1:'`;
  return {
    ...place,
    count: statement({
      name: `secrets.count_${table}_${column}`,
      params: { keyId: text },
      row: { n: double },
      sql: `SELECT count(*)::float8 AS n FROM ${table} WHERE ${isOld}`,
    }),
    page: statement({
      name: `secrets.page_${table}_${column}`,
      params: { keyId: text, after: text },
      row: { key: text, sealed: text },
      sql: `
        SELECT ${key}::text AS key, ${sealed} AS sealed FROM ${table}
        WHERE ${isOld} AND ${key}::text COLLATE "C" > :after ORDER BY ${key}::text COLLATE "C" LIMIT ${ROWS_AT_ONCE}`,
    }),
    update: statement({
      name: `secrets.update_${table}_${column}`,
      params: { key: text, next: resealJson === undefined ? text : jsonb(), sealed: text },
      row: {},
      sql: `
        UPDATE ${table} SET ${column} = :next::${resealJson === undefined ? 'text' : 'jsonb'}
        WHERE ${key}::text = :key AND ${sealed} = :sealed`,
    }),
  };
}

export interface Rotation {
  /** How many texts were sealed again. */
  readonly resealed: number;
  /** How many texts no key of the ring opens; they were left as they are. */
  readonly unreadable: number;
}

/**
 * Seals again with the master key what another key of the ring sealed. Replicas that have both keys keep working: first
 * they are told to seal with the new key; once all of them do, stored texts are sealed again in batches, each a
 * transaction. A run that was interrupted can be repeated: it finds what is left.
 */
export class KeyRotation {
  /** The same text gets the same result, so that the history of settings still knows which values are equal. */
  private readonly done = new Map<string, string>();
  private resealed = 0;
  private unreadable = 0;

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly audit: AuditLog,
    private readonly places: readonly SealedPlace[],
  ) {}

  async run(progress: (done: number, all: number) => void): Promise<Rotation> {
    const places = await this.placesThatAre();
    await this.changeKey();
    await sleep(FOLLOWED_MS);
    const all = await this.count(places);
    progress(0, all);
    for (const place of places) await this.resealPlace(place, () => progress(this.resealed, all));
    const { resealed, unreadable } = this;
    const details = { key: this.box.keyId, resealed, unreadable };
    await this.audit.write(this.database, {
      ...{ action: 'secret.resealed', target: 'master key', outcome: 'success', details },
    });
    return { resealed, unreadable };
  }

  private changeKey(): Promise<void> {
    return this.database.transaction(async (runner) => {
      const before = await replaceCheck(runner, this.box);
      if (before === this.box.keyId) return;
      const details = { before, after: this.box.keyId };
      await this.audit.write(runner, {
        action: 'key.rotated',
        target: 'master key',
        outcome: 'success',
        details,
      });
    });
  }

  private async placesThatAre(): Promise<readonly SealedPlace[]> {
    const rows = await this.database.query(TABLES, { tables: this.places.map(({ table }) => table) });
    const known = new Set(rows.map(({ name }) => name));
    return this.places.filter(({ table }) => known.has(table));
  }

  private async count(places: readonly SealedPlace[]): Promise<number> {
    let all = 0;
    for (const place of places) {
      const [row] = await this.database.query(place.count, { keyId: this.box.keyId });
      all += row?.n ?? 0;
    }
    return all;
  }

  private async resealPlace(place: SealedPlace, progress: () => void): Promise<void> {
    for (let after = ''; ; ) {
      const rows = await this.database.transaction(async (runner) => {
        const found = await runner.query(place.page, { keyId: this.box.keyId, after });
        for (const row of found) await this.resealRow(runner, place, row);
        return found;
      });
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.key;
      progress();
    }
  }

  /** Only while it is still what was read: a replica may have written another secret meanwhile. */
  private async resealRow(runner: SqlRunner, place: SealedPlace, { key, sealed }: SealedRow): Promise<void> {
    try {
      const reseal = (text: string, context: string): string => this.reseal(text, context);
      const next =
        place.resealJson === undefined
          ? reseal(sealed, place.context(key))
          : JSON.stringify(place.resealJson(JSON.parse(sealed), reseal));
      await runner.query(place.update, { key, next, sealed });
      this.resealed += 1;
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      this.unreadable += 1;
    }
  }

  private reseal(sealed: string, context: string): string {
    if (sealed.split(':')[1] === this.box.keyId) return sealed;
    const known = this.done.get(sealed);
    if (known !== undefined) return known;
    const next = this.box.reseal(sealed, context);
    this.done.set(sealed, next);
    return next;
  }
}
