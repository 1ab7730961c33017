import type { ErrorCode, ErrorDetails, GatewayError } from '../../common/errors/gateway-error.js';
import type { ListenerId } from '../profiles/profile.js';

export interface ErrorEnvelopeA {
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

export interface ErrorEnvelopeB {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details: ErrorDetails | null;
  };
}

/** docs/specification/api.md, 7: one key `error`; Profile B adds `details`, which may be null. */
export function presentError(profile: ListenerId, error: GatewayError): ErrorEnvelopeA | ErrorEnvelopeB {
  const { code, message, details } = error;
  return profile === 'b' ? { error: { code, message, details } } : { error: { code, message } };
}
