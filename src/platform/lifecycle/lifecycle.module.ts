import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Readiness } from './readiness.js';
import { ReplicaId } from './replica-id.js';
import { ReplicaInfo } from './replica-info.js';

/** Who this process is, and whether it wants requests. */
@Global()
@Module({})
export class LifecycleModule {
  static of(replica: ReplicaId, version: string): DynamicModule {
    return {
      module: LifecycleModule,
      providers: [
        { provide: ReplicaId, useValue: replica },
        Readiness,
        ReplicaInfo.provider,
        ReplicaInfo.of(version),
      ],
      exports: [ReplicaId, Readiness],
    };
  }
}
