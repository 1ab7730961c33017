const BEARER = /^Bearer +([^\s]+) *$/i;

/** The token of an `Authorization` header; undefined when it is of another kind. */
export function bearerOf(header: string | undefined): string | undefined {
  return BEARER.exec(header ?? '')?.[1];
}
