import type { ErrorCode } from '../../../src/errors/gateway-error.js';
import type { ProfileId } from '../../../src/profiles/profile.js';

/** The error of a B envelope; A's has no details. */
export interface ErrorWire {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: {
    readonly reason?: string;
    readonly fields?: readonly { readonly path: string; readonly message: string }[];
  } | null;
}

interface AnyAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null | undefined };
  readonly body: unknown;
}

/** Checks status, content type and the exact envelope of a profile (specification 7), and returns the error in it. */
export function expectError(
  profile: ProfileId,
  answer: AnyAnswer,
  status: number,
  code: ErrorCode,
): ErrorWire {
  const { error } = answer.body as { error?: ErrorWire };
  expect([answer.status, error?.code, error?.message]).toEqual([status, code, expect.any(String)]);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(Object.keys(answer.body as object)).toEqual(['error']);
  expect(Object.keys(error as object)).toEqual(
    profile === 'a' ? ['code', 'message'] : ['code', 'message', 'details'],
  );
  if (profile === 'b') expectDetails(error?.details);
  return error as ErrorWire;
}

function expectDetails(details: ErrorWire['details']): void {
  if (details === null) return;
  for (const key of Object.keys(details as object)) expect(['reason', 'fields']).toContain(key);
  for (const field of details?.fields ?? [])
    expect(field).toEqual({ path: expect.any(String) as unknown, message: expect.any(String) as unknown });
}

/** What every answer of an API port carries, whatever its status (specification 8; decisions, sections 7 and 9). */
export function expectCommonHeaders(answer: { readonly headers: AnyAnswer['headers'] }): void {
  const header = (name: string) => answer.headers.get(name) ?? '(none)';
  expect(header('x-request-id')).toMatch(/^[\w.:-]{1,64}$/);
  expect(header('x-content-type-options')).toBe('nosniff');
  expect(header('cache-control')).toBe('no-store');
  expect(header('x-powered-by')).toBe('(none)');
  expect(header('etag')).toBe('(none)');
  expectRateHeaders(answer);
}

export function expectRateHeaders({ headers }: { readonly headers: AnyAnswer['headers'] }): void {
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    expect([name, headers.get(name)]).toEqual([name, expect.stringMatching(/^\d+$/)]);
}
