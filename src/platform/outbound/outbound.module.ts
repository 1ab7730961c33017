import { Global, Module } from '@nestjs/common';
import { AddressGuard } from './address-guard.js';
import { NameResolver, SystemNameResolver } from './name-resolver.js';
import { OutboundClient } from './outbound-client.js';

/** The one guarded door to the world outside. */
@Global()
@Module({
  providers: [{ provide: NameResolver, useClass: SystemNameResolver }, AddressGuard, OutboundClient],
  exports: [AddressGuard, OutboundClient],
})
export class OutboundModule {}
