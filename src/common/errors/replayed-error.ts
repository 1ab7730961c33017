import { type ErrorCode, type ErrorDetails, GatewayError } from './gateway-error.js';

/** An error as it is kept, to be told again. */
export interface StoredError {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails | null;
}

export function storedError({ status, code, message, details }: GatewayError): StoredError {
  return { status, code, message, details };
}

/** An error that somebody was told before; it was logged then. */
export class ReplayedError extends GatewayError {
  readonly status: number;
  readonly code: ErrorCode;

  constructor({ status, code, message, details }: StoredError) {
    super(message, { details: details ?? undefined });
    this.status = status;
    this.code = code;
  }
}
