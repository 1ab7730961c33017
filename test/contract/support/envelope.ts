import type { ErrorCode } from '../../../src/common/errors/gateway-error.js';
import type { ProfileId } from '../../../src/http/profiles/profile.js';

/** The error in Profile B's envelope; Profile A's has no details. */
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

/**
 * Checks status, content type and the exact envelope of a profile (docs/specification/api.md, 7), and returns its
 * error. Each function here compares everything in one `expect`: it runs for thousands of responses, and `expect`
 * costs more than the comparison.
 */
export function expectError(
  profile: ProfileId,
  answer: AnyAnswer,
  status: number,
  code: ErrorCode,
): ErrorWire {
  const { error } = answer.body as { error?: ErrorWire };
  expect([
    ...[answer.status, error?.code, error?.message, answer.headers.get('content-type')],
    ...[Object.keys(answer.body as object), Object.keys(error ?? {})],
  ]).toEqual([
    ...[status, code, expect.any(String) as unknown, 'application/json; charset=utf-8'],
    ...[['error'], profile === 'a' ? ['code', 'message'] : ['code', 'message', 'details']],
  ]);
  if (profile === 'b') expectDetails(error?.details);
  return error as ErrorWire;
}

function expectDetails(details: ErrorWire['details']): void {
  if (details === null) return;
  const others = Object.keys(details as object).filter((key) => key !== 'reason' && key !== 'fields');
  const fields = details?.fields ?? [];
  const field = { path: expect.any(String) as unknown, message: expect.any(String) as unknown };
  expect({ others, fields }).toEqual({ others: [], fields: fields.map(() => field) });
}

const COMMON_HEADERS = {
  'x-request-id': expect.stringMatching(/^[\w.:-]{1,64}$/) as unknown,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'x-powered-by': '(none)',
  etag: '(none)',
};
const A_NUMBER = expect.stringMatching(/^\d+$/) as unknown;
const RATE_HEADERS = {
  'x-ratelimit-limit': A_NUMBER,
  'x-ratelimit-remaining': A_NUMBER,
  'x-ratelimit-reset': A_NUMBER,
};

/**
 * Headers of every response of an API port, whatever its status (docs/specification/api.md, 8;
 * docs/specification/silences.md, Headers).
 */
export function expectCommonHeaders(answer: { readonly headers: AnyAnswer['headers'] }): void {
  expectHeaders(answer, { ...COMMON_HEADERS, ...RATE_HEADERS });
}

export function expectRateHeaders(answer: { readonly headers: AnyAnswer['headers'] }): void {
  expectHeaders(answer, RATE_HEADERS);
}

function expectHeaders(
  { headers }: { readonly headers: AnyAnswer['headers'] },
  expected: Readonly<Record<string, unknown>>,
): void {
  const got = Object.keys(expected).map((name) => [name, headers.get(name) ?? '(none)']);
  expect(Object.fromEntries(got)).toEqual(expected);
}
