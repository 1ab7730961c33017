import { Global, Module } from '@nestjs/common';
import { Readiness } from './readiness.js';
import { ReplicaId } from './replica-id.js';

/** Who this process is, and whether it wants requests. */
@Global()
@Module({ providers: [ReplicaId, Readiness], exports: [ReplicaId, Readiness] })
export class LifecycleModule {}
