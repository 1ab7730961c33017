import type { HeldBytes } from '../../common/bytes/held-bytes.js';
import type { GatewayRequest } from '../gateway-request.js';

/** Empties the body, once it is read: the request, and the call of its handler, keep it until the response. */
export function emptyBody(request: GatewayRequest): void {
  dropMembers(request.body);
  request.body = undefined;
}

/** Takes everything out of an object that others keep. */
export function dropMembers(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const name of Object.keys(value)) Reflect.deleteProperty(value, name);
}

/**
 * Holds the memory of a request's body until `work` is done, and then until what `outlives` names has settled: not less,
 * because its caller may be gone while what it sent still waits or runs, and not until the response ends, which may take
 * longer. Throws `BadRequest` for a caller with a large body that has gone already.
 */
export async function withHeldBody<Result>(
  request: GatewayRequest,
  work: (held: HeldBytes | undefined) => Promise<Result>,
  outlives: (result: Result) => Promise<unknown> | undefined = () => undefined,
): Promise<Result> {
  const { held } = request;
  held?.add(0);
  request.held = undefined;
  const release = (): void => held?.release();
  try {
    const result = await work(held);
    const until = outlives(result);
    if (until === undefined) release();
    else void until.then(release, release);
    return result;
  } catch (error) {
    release();
    throw error;
  }
}
