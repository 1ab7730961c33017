import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectMetric, makeGaugeProvider } from '@willsoto/nestjs-prometheus';
import type { Gauge } from 'prom-client';
import { ReplicaId } from './replica-id.js';

const NAME = 'agent_gateway_replica_info';

/** Joins what is scraped of this process with its log lines, leases and turns: always 1, for the label. */
@Injectable()
export class ReplicaInfo implements OnModuleInit, OnModuleDestroy {
  static readonly provider = makeGaugeProvider({
    name: NAME,
    help: 'Which replica this process is: its id in logs, leases and turns.',
    labelNames: ['replica_id'],
  });

  constructor(
    @InjectMetric(NAME) private readonly gauge: Gauge<'replica_id'>,
    private readonly replica: ReplicaId,
  ) {}

  onModuleInit(): void {
    this.gauge.set({ replica_id: this.replica.value }, 1);
  }

  onModuleDestroy(): void {
    this.gauge.remove({ replica_id: this.replica.value });
  }
}
