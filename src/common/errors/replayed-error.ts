import { type ErrorCode, type ErrorDetails, GatewayError } from './gateway-error.js';

/** An error as stored for replay. */
export interface StoredError {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails | null;
}

export function storedError({ status, code, message, details }: GatewayError): StoredError {
  return { status, code, message, details };
}

/** An error replayed to a caller; it was logged the first time. */
export class ReplayedError extends GatewayError {
  readonly status: number;
  readonly code: ErrorCode;

  constructor({ status, code, message, details }: StoredError) {
    super(message, { details: details ?? undefined });
    this.status = status;
    this.code = code;
  }
}
