import type { GatewayError } from '../../common/errors/gateway-error.js';

/** An error as OpenAI's API words it and its SDKs read it. */
export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    /** The parameter that is to blame, when it is one. */
    readonly param: string | null;
    readonly code: string | null;
  };
}

/** The gateway's own `reason` is the `code`, where OpenAI has no code of its own. */
export function presentOpenAiError(error: GatewayError): OpenAiError {
  const { message, details, status } = error;
  const param = details?.fields?.[0]?.path ?? null;
  const code = details?.reason ?? CODES[status] ?? null;
  return { error: { message, type: typeOf(status), param: param === '' ? null : param, code } };
}

const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  403: 'insufficient_permissions',
  404: 'not_found',
  409: 'conflict',
  429: 'rate_limit_exceeded',
};

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
