import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultProxy } from '../../harness/fault-proxy.js';
import { until } from '../../harness/gateway-process.js';
import { type Fault, isConnectionFault, describe as sentenceOf } from './fault-schedule.js';
import type { Ledger } from './ledger.js';
import type { Stage } from './stage.js';

/** Carries out a schedule on a stage, each fault at its time. Faults of the same target wait for one another. */
export class FaultInjector {
  private readonly lines = new Map<string, Promise<void>>();

  constructor(
    private readonly stage: Stage,
    private readonly ledger: Ledger,
    /** Whether the leases of killed processes expire by themselves, or are ended at once. */
    private readonly waitsForLeases: boolean,
  ) {}

  /** Resolves when all faults are over and everything works again. */
  async follow(schedule: readonly Fault[]): Promise<void> {
    const beganAt = performance.now();
    for (const fault of schedule) {
      await sleep(Math.max(0, fault.atMs - (performance.now() - beganAt)));
      const before = this.lines.get(fault.target) ?? Promise.resolve();
      this.lines.set(
        fault.target,
        before.then(() => this.inject(fault)),
      );
    }
    await Promise.all(this.lines.values());
  }

  private async inject(fault: Fault): Promise<void> {
    const startedAt = performance.now();
    await this.doTo(fault).catch((error: unknown) => {
      const sentence = `"${sentenceOf(fault)}" could not be done: ${String(error)}`;
      this.ledger.write({ kind: 'violation', sentence });
    });
    this.ledger.write({ kind: 'fault', fault, tookMs: Math.round(performance.now() - startedAt) });
  }

  private async doTo(fault: Fault): Promise<void> {
    if (isConnectionFault(fault.kind)) await this.harm(this.stage.way(fault.target), fault);
    else if (fault.kind === 'restart') await this.stage.restartDatabase();
    else await this.endGateway(fault);
  }

  private async endGateway({ kind, target }: Fault): Promise<void> {
    const place = this.stage.places.find(({ name }) => name === target);
    if (place === undefined) throw new Error(`There is no ${target}.`);
    if (kind === 'kill') return place.kill((pid) => this.endLeases(pid));
    const wrong = await place.terminate();
    if (wrong !== undefined) this.ledger.write({ kind: 'violation', sentence: wrong });
  }

  private async harm(way: FaultProxy, { kind, forMs }: Fault): Promise<void> {
    if (kind === 'cut') await way.cut();
    else if (kind === 'freeze') way.freeze();
    else if (kind === 'slow') way.slow({ latencyMs: 30, bytesPerSecond: 200_000 });
    else if (kind === 'half-cut') way.halfCut();
    else way.reset();
    await sleep(kind === 'reset' ? 0 : forMs);
    await way.mend();
  }

  private async endLeases(pid: number): Promise<void> {
    if (this.waitsForLeases) return;
    const past = `now() - interval '1 second'`;
    const owner = `LIKE '%:' || $1 || ':%'`;
    await until(
      () =>
        Promise.all([
          this.stage.query(`UPDATE sessions SET turn_lease_until = ${past} WHERE turn_owner ${owner}`, [pid]),
          this.stage.query(`UPDATE hook_lanes SET lease_until = ${past} WHERE owner ${owner}`, [pid]),
        ]).then(
          () => true,
          () => false,
        ),
      30_000,
    );
  }
}
