/** The gateway refused a request, or it failed there. */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(
    readonly status: number,
    /** One of the seven words of the contract; empty when the answer was not the gateway's. */
    readonly code: string,
    message: string,
    /** Profile B and the operators' API say more: `reason`, `fields`. */
    readonly details: { readonly reason?: string; readonly fields?: readonly unknown[] } | undefined,
    /** For whoever reads the gateway's log. */
    readonly requestId: string | undefined,
  ) {
    super(message);
  }
}

interface Result<Data> {
  readonly data?: Data | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of an answer; throws `RequestError` for any other. For the results of `openapi-fetch`. */
export async function orThrow<Data>(result: Promise<Result<Data>>): Promise<Data> {
  const { data, error, response } = await result;
  if (response.ok) return data as Data;
  throw errorOf(response, error);
}

export async function refusal(response: Response): Promise<RequestError> {
  return errorOf(response, await response.json().catch(() => undefined));
}

function errorOf({ status, headers }: Response, body: unknown): RequestError {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as {
    error?: { code?: string; message?: string; details?: RequestError['details'] | null };
  };
  const { code = '', message = `The gateway answered ${status}.`, details } = error ?? {};
  return new RequestError(
    status,
    code,
    message,
    details ?? undefined,
    headers.get('X-Request-Id') ?? undefined,
  );
}
