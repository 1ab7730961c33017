/** The seven code words of the contract (docs/specification/api.md, 7). */
export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'rate_limited'
  | 'internal_error';

export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

export interface ErrorDetails {
  readonly reason?: string;
  readonly fields?: readonly FieldProblem[];
}

export interface ErrorOptions {
  readonly details?: ErrorDetails | undefined;
  /** Whole seconds for the `Retry-After` header. */
  readonly retryAfterSecs?: number | undefined;
  /** Further response headers, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
}

/** What the gateway answers with when it cannot do what was asked: status, code word, a sentence for people. */
export abstract class GatewayError extends Error {
  abstract readonly status: number;
  abstract readonly code: ErrorCode;
  /** A caller's mistake is `debug`; what an operator should see is `warn`; the unexpected is `error`, with its stack. */
  readonly logLevel: 'debug' | 'warn' | 'error' = 'debug';
  readonly details: ErrorDetails | null;
  readonly retryAfterSecs: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.details = options.details ?? null;
    this.retryAfterSecs = options.retryAfterSecs;
    this.headers = options.headers ?? {};
  }
}

export class BadRequest extends GatewayError {
  readonly status: number = 400;
  readonly code = 'bad_request';
}

export class Unauthorized extends GatewayError {
  readonly status = 401;
  readonly code = 'unauthorized';
}

export class Forbidden extends GatewayError {
  readonly status = 403;
  readonly code = 'forbidden';
}

export class NotFound extends GatewayError {
  readonly status = 404;
  readonly code = 'not_found';
}

export class MethodNotAllowed extends GatewayError {
  readonly status = 405;
  readonly code = 'bad_request';
}

export class Conflict extends GatewayError {
  readonly status = 409;
  readonly code = 'conflict';
}

export class BodyTooLarge extends GatewayError {
  readonly status = 413;
  readonly code = 'bad_request';
}

export class UriTooLong extends GatewayError {
  readonly status = 414;
  readonly code = 'bad_request';
}

export class UnsupportedMediaType extends GatewayError {
  readonly status = 415;
  readonly code = 'bad_request';
}

export class RateLimited extends GatewayError {
  readonly status = 429;
  readonly code = 'rate_limited';
}

export class HeadersTooLarge extends GatewayError {
  readonly status = 431;
  readonly code = 'bad_request';
}

export class InternalError extends GatewayError {
  readonly status = 500;
  readonly code = 'internal_error';
  override readonly logLevel = 'error';
}

/** The model provider failed; `details.reason` says how. */
export class ProviderFailed extends GatewayError {
  readonly status = 502;
  readonly code = 'internal_error';
  override readonly logLevel = 'warn';
}

/** Draining, database unreachable, pool exhausted: try again after `retryAfterSecs`. */
export class Unavailable extends GatewayError {
  readonly status = 503;
  readonly code = 'internal_error';
  override readonly logLevel = 'warn';
}

/** No memory is left for what a caller sends. */
export class NoRoom extends Unavailable {}

/** Whether nothing was begun. After other errors of 500 and more nobody knows: the database may have stored it. */
export function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && (error.status < 500 || error instanceof NoRoom);
}

/** The model provider or the whole turn ran into its deadline. */
export class ProviderTimedOut extends GatewayError {
  readonly status = 504;
  readonly code = 'internal_error';
  override readonly logLevel = 'warn';
}

/** Fields past this number are only counted. */
const MAX_PROBLEMS = 20;

/** Invalid fields of a request. The sentence names each, since Profile A returns nothing else. */
export class BadFields extends BadRequest {
  constructor(readonly all: readonly FieldProblem[]) {
    const fields = all.slice(0, MAX_PROBLEMS);
    const sentence = fields.map(({ path, message }) => `${path}: ${message}`).join('; ');
    const rest = all.length - fields.length;
    super((sentence || 'The request is not valid.') + (rest > 0 ? ` (and ${rest} more)` : ''), {
      details: { fields },
    });
  }

  /** Throws unless there are none. */
  static refuse(problems: readonly FieldProblem[]): void {
    if (problems.length > 0) throw new BadFields(problems);
  }
}

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
