import { HttpException } from '@nestjs/common';
import type { ErrorCode, ErrorDetails, GatewayError } from '../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../gateway-request.js';
import type { ListenerId } from '../profiles/profile.js';
import { presentOpenAiError } from './openai-error.js';

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

/** An error in the form of the face that was called, which is Profile B's unless it has one of its own. */
export function presentRefusal(
  { face, profile }: Pick<GatewayRequest, 'face' | 'profile'>,
  error: GatewayError,
): object {
  if (face === undefined) return presentError(profile, error);
  return face === 'openai' ? presentOpenAiError(error) : presentError('b', error);
}

/** The body of one of Nest's exceptions, for libraries that respond by throwing; undefined for any other error. */
export function httpExceptionBody(error: unknown): object | undefined {
  if (!(error instanceof HttpException)) return undefined;
  const body = error.getResponse();
  return typeof body === 'string' ? { message: body } : body;
}
