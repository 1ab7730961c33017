/** One thing that was done or refused. */
export interface AuditEntry {
  /** A fixed word, such as `tool.call`. */
  readonly action: string;
  /** On whose behalf: a user, or a person at the command line. */
  readonly actor: string;
  /** What it was done to, such as the name of a tool. */
  readonly target: string;
  /** A fixed word, such as `success` or `denied`. */
  readonly outcome: string;
  readonly sessionId?: string;
  /** Further facts; texts are cut and redacted. */
  readonly details?: Readonly<Record<string, unknown>>;
}
