import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressGuard } from '../../platform/outbound/address-guard.js';
import { OutboundRefused } from '../../platform/outbound/outbound.errors.js';

/** A host name that takes longer to resolve is accepted for now; every delivery checks it again. */
const NAME_LOOKUP_MS = 1000;

/**
 * The rule that the URL breaks, without what it resolves to; undefined for an allowed URL. Rejects at registration what
 * every delivery would refuse; deliveries check again when they connect.
 */
export async function urlProblem(guard: AddressGuard, text: string): Promise<string | undefined> {
  const abort = new AbortController();
  try {
    const { hostname } = guard.checkUrl(text);
    if (guard.isProxyName(hostname)) return undefined;
    const timeout = sleep(NAME_LOOKUP_MS, undefined, { signal: abort.signal });
    await Promise.race([guard.addressesOf(hostname), timeout]);
    return undefined;
  } catch (error) {
    // A name that does not resolve now may do so tomorrow.
    return error instanceof OutboundRefused ? error.message : undefined;
  } finally {
    abort.abort();
  }
}
