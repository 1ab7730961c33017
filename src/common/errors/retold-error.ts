import { type ErrorCode, type ErrorDetails, GatewayError } from './gateway-error.js';

/** An error as it is kept, to be told again. */
export interface KeptError {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails | null;
}

export function keptError({ status, code, message, details }: GatewayError): KeptError {
  return { status, code, message, details };
}

/** An error that somebody was told before; it was logged then. */
export class RetoldError extends GatewayError {
  readonly status: number;
  readonly code: ErrorCode;

  constructor({ status, code, message, details }: KeptError) {
    super(message, { details: details ?? undefined });
    this.status = status;
    this.code = code;
  }
}
