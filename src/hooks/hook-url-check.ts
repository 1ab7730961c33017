import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AddressGuard } from '../outbound/address-guard.js';
import { OutboundRefused } from '../outbound/outbound.errors.js';
import { BadHookUrl } from './hooks.errors.js';

/** A name that takes longer is believed for now: every delivery asks again. */
const NAME_LOOKUP_MS = 1000;

/** Tells at registration what every delivery would refuse; the delivery checks again, at the connection. */
@Injectable()
export class HookUrlCheck {
  constructor(private readonly guard: AddressGuard) {}

  /** Throws `BadHookUrl`, which says what the rule is and not what was found. */
  async check(text: string): Promise<void> {
    const abort = new AbortController();
    try {
      const { hostname } = this.guard.checkUrl(text);
      const patience = sleep(NAME_LOOKUP_MS, undefined, { signal: abort.signal });
      await Promise.race([this.guard.addressesOf(hostname), patience]);
    } catch (error) {
      // A name that cannot be resolved now may be tomorrow.
      if (error instanceof OutboundRefused) throw new BadHookUrl(error.message);
    } finally {
      abort.abort();
    }
  }
}
