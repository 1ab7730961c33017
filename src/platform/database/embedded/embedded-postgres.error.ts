const wayOut = 'Or set DATABASE_URL to a PostgreSQL 14 or later.';

/** The embedded server cannot be used; the message says why and what to do instead. */
export class EmbeddedPostgresError extends Error {
  constructor(
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`Embedded PostgreSQL: ${problem} ${wayOut}`, options);
    this.name = new.target.name;
  }

  static from(error: unknown): EmbeddedPostgresError {
    if (error instanceof EmbeddedPostgresError) return error;
    return new EmbeddedPostgresError(`${messageOf(error)}.`, { cause: error });
  }
}

/** The `code` of a Node or PostgreSQL error, such as `ENOENT` or `57P03`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  if (error instanceof EmbeddedPostgresError) return error.problem;
  return error instanceof Error ? error.message : String(error);
}
