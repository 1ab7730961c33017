import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AddressGuard } from '../../platform/outbound/address-guard.js';
import { OutboundRefused } from '../../platform/outbound/outbound.errors.js';

/** A name that takes longer is believed for now: every delivery asks again. */
const NAME_LOOKUP_MS = 1000;

/** Tells at registration what every delivery would refuse; the delivery checks again, at the connection. */
@Injectable()
export class HookUrlCheck {
  constructor(private readonly guard: AddressGuard) {}

  /** Says what the rule is and not what was found; undefined for a URL that may be reached. */
  async problemOf(text: string): Promise<string | undefined> {
    const abort = new AbortController();
    try {
      const { hostname } = this.guard.checkUrl(text);
      if (this.guard.isProxyName(hostname)) return undefined;
      const timeout = sleep(NAME_LOOKUP_MS, undefined, { signal: abort.signal });
      await Promise.race([this.guard.addressesOf(hostname), timeout]);
      return undefined;
    } catch (error) {
      // A name that cannot be resolved now may be tomorrow.
      return error instanceof OutboundRefused ? error.message : undefined;
    } finally {
      abort.abort();
    }
  }
}
