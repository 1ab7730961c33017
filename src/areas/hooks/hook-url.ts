import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { OutboundRefused } from '../../platform/outbound/outbound.errors.js';
import { withDeadline } from '../../platform/runtime/with-deadline.js';

/** A host name that takes longer to resolve is accepted for now; every delivery checks it again. */
const NAME_LOOKUP_MS = 1000;

/**
 * The rule that the URL breaks, without what it resolves to; undefined for an allowed URL. Rejects at registration what
 * every delivery would refuse; deliveries check again when they connect.
 */
export async function urlProblem(guard: AddressGuard, text: string): Promise<string | undefined> {
  try {
    const { hostname } = guard.checkUrl(text);
    if (guard.isProxyName(hostname)) return undefined;
    await withDeadline(guard.addressesOf(hostname), NAME_LOOKUP_MS, () => []);
    return undefined;
  } catch (error) {
    // A name that does not resolve now may do so tomorrow.
    return error instanceof OutboundRefused ? error.message : undefined;
  }
}
