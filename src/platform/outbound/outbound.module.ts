import { Global, Module } from '@nestjs/common';
import { AddressGuard } from './address-guard.js';
import { NameResolver, SystemNameResolver } from './name-resolver.js';
import { OutboundClient } from './outbound-client.js';

/** The one guarded way out of the gateway. */
@Global()
@Module({
  providers: [{ provide: NameResolver, useClass: SystemNameResolver }, AddressGuard, OutboundClient],
  exports: [AddressGuard, OutboundClient],
})
export class OutboundModule {}
