import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type FactoryProvider, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { getToken, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';

/** Identifies this process among all that share the database: host, process, and a part that is new at each start. */
@Injectable()
export class ReplicaId {
  readonly value = `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`;
}

const NAME = 'agent_gateway_replica_info';

/**
 * A metric that is always 1. Its labels connect the other metrics of this process with its log lines, leases and turns,
 * and name the version it runs.
 */
export class ReplicaInfo implements OnModuleInit, OnModuleDestroy {
  static readonly provider = makeGaugeProvider({
    name: NAME,
    help: 'Which replica this process is (its id in logs, leases and turns), and the version it runs.',
    labelNames: ['replica_id', 'version'],
  });

  static of(version: string): FactoryProvider<ReplicaInfo> {
    return {
      provide: ReplicaInfo,
      inject: [getToken(NAME), ReplicaId],
      useFactory: (gauge: Gauge<'replica_id' | 'version'>, replica: ReplicaId) =>
        new ReplicaInfo(gauge, { replica_id: replica.value, version }),
    };
  }

  private constructor(
    private readonly gauge: Gauge<'replica_id' | 'version'>,
    private readonly labels: Readonly<Record<'replica_id' | 'version', string>>,
  ) {}

  onModuleInit(): void {
    this.gauge.set(this.labels, 1);
  }

  onModuleDestroy(): void {
    this.gauge.remove(this.labels);
  }
}
