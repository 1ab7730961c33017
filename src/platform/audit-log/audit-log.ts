import { Injectable } from '@nestjs/common';
import { sentenceOf } from '../../common/errors/error-text.js';
import { Database } from '../database/database.js';
import type { SqlRunner } from '../database/sql.js';
import { jsonb, nullable, text } from '../database/sql-types.js';
import { statement } from '../database/statement.js';
import { storableText } from '../database/storable-text.js';
import { currentOrigin } from '../logging/log-context.js';
import { type Logger, Logs } from '../logging/logger.js';
import { Redactor } from '../logging/redactor.js';

/** One thing that was done or refused. */
export interface AuditEntry {
  /** A noun and a past participle, such as `tool.called`. */
  readonly action: string;
  /** On whose behalf: a user, or a person at the command line. By default the origin of the current request. */
  readonly actor?: string;
  /** What it was done to, such as the name of a tool. */
  readonly target: string;
  /** A fixed word, such as `success` or `denied`. */
  readonly outcome: string;
  readonly sessionId?: string;
  /** By default that of the current request. */
  readonly address?: string;
  /** Further facts; texts are cut and redacted. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const INSERT = statement({
  name: 'audit_entries.insert',
  params: {
    ...{ action: text, actor: text, target: text, outcome: text, session: nullable(text) },
    ...{ details: jsonb(), address: nullable(text) },
  },
  row: {},
  sql: `
    INSERT INTO audit_entries (action, actor, target, outcome, session_id, details, address)
    VALUES (:action, :actor, :target, :outcome, :session, :details::jsonb, :address)`,
});

/** Who acts when no one asked for it. */
const GATEWAY_ITSELF = 'the gateway';

const MAX_DETAIL_CHARACTERS = 4096;

/** Records who did what. Rows contain no secret that the process knows. */
@Injectable()
export class AuditLog {
  private readonly logger: Logger;

  constructor(
    private readonly database: Database,
    private readonly redactor: Redactor,
    logs: Logs,
  ) {
    this.logger = logs.for('audit');
  }

  /** Within the caller's transaction, so that the act and its record are committed together. */
  async write(runner: SqlRunner, entry: AuditEntry): Promise<void> {
    const origin = currentOrigin();
    const { action, actor = origin?.actor ?? GATEWAY_ITSELF, target, outcome, sessionId = null } = entry;
    await runner.query(INSERT, {
      ...{ action: this.clean(action), actor: this.clean(actor) },
      ...{ target: this.clean(target), outcome: this.clean(outcome), session: sessionId },
      details: this.detailsOf(entry, origin?.tokenId),
      address: entry.address ?? origin?.address ?? null,
    });
  }

  /**
   * For actions that have already happened: a record that cannot be written is logged as an error, and the action still
   * succeeds.
   */
  async record(entry: AuditEntry): Promise<void> {
    try {
      await this.write(this.database, entry);
    } catch (error) {
      const { action, actor = currentOrigin()?.actor ?? GATEWAY_ITSELF, target, outcome } = entry;
      this.logger.error('an audit entry could not be written', {
        ...{ action, actor, target, outcome },
        error: sentenceOf(error),
      });
    }
  }

  private detailsOf({ details = {} }: AuditEntry, byToken: string | undefined): string {
    const all = byToken === undefined ? details : { by_token: byToken, ...details };
    const entries = Object.entries(all).map(([name, value]) => [name, this.shown(value)] as const);
    return JSON.stringify(Object.fromEntries(entries));
  }

  private shown(value: unknown): unknown {
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
    const text = this.clean(typeof value === 'string' ? value : JSON.stringify(value));
    return text.length > MAX_DETAIL_CHARACTERS ? `${text.slice(0, MAX_DETAIL_CHARACTERS - 1)}…` : text;
  }

  private clean(text: string): string {
    return storableText(this.redactor.redact(text));
  }
}

/** Who acts and from where, for statements that write their audit entry themselves. */
export function originJson(): string {
  return JSON.stringify(currentOrigin() ?? { actor: GATEWAY_ITSELF, address: null });
}
