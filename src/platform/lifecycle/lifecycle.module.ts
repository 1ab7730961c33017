import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Readiness } from './readiness.js';
import { ReplicaId, ReplicaInfo } from './replica-id.js';

/** Identifies this process, and says whether it accepts requests. */
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
