import { Injectable, type Type } from '@nestjs/common';
import { BadFields, type FieldProblem } from '../../common/errors/gateway-error.js';

/**
 * Faults of a body beyond the form of its single fields: what an area's service would refuse next.
 * @param sent the body as it arrived; a field has its declared type unless it is faulty
 * @param isFaulty whether something was found at, within or around this path already
 */
export type FurtherCheck = (
  sent: Readonly<Record<string, unknown>>,
  isFaulty: (path: string) => boolean,
) => readonly FieldProblem[] | Promise<readonly FieldProblem[]>;

/**
 * The further checks of request classes. They run only for a body that is refused already, to report all faults at
 * once; for a body with valid fields the service checks the same rules.
 */
@Injectable()
export class FurtherChecks {
  private readonly checks = new Map<Type, FurtherCheck>();

  add(requestClass: Type, check: FurtherCheck): void {
    this.checks.set(requestClass, check);
  }

  /** The error to throw instead of `refusal`: the same, with all further faults. */
  async widened(refusal: unknown, requestClass: Type | undefined, body: unknown): Promise<unknown> {
    const check = requestClass && this.checks.get(requestClass);
    const found = refusal instanceof BadFields ? refusal.all : undefined;
    if (check === undefined || found === undefined || typeof body !== 'object' || body === null)
      return refusal;
    const isFaulty = (path: string) =>
      found.some((one) => isWithin(one.path, path) || isWithin(path, one.path));
    return new BadFields([...found, ...(await check(body as Record<string, unknown>, isFaulty))]);
  }
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`);
}
