import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Readiness } from '../../../platform/lifecycle/readiness.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Poller } from '../../../platform/runtime/poller.js';
import type { ChannelSettings } from '../../../platform/settings/sections/channels.section.js';
import { Settings } from '../../../platform/settings/settings.js';
import type { GatewaySettings } from '../../../platform/settings/settings.schema.js';
import { SettingsChanges } from '../../../platform/settings/settings-changes.js';
import { ChannelAdapters } from '../channel-adapters.js';
import {
  ChannelStates,
  type HeldLease,
  RECEIVER_LEASE_SECS,
  type ReceiverLease,
} from '../channel-states.store.js';
import { ChannelRunner, RunnerPartsFactory } from './channel-runner.js';

const POLL_MS = 1000;

interface Held {
  readonly lease: ReceiverLease;
  readonly runner: ChannelRunner;
  restarts: number;
}

/**
 * Receives for the channels whose lease this replica holds, and tries every second to acquire free ones. A change of the
 * settings restarts only the channels concerned.
 */
@Injectable()
export class ChannelSupervisor implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly held = new Map<string, Held>();
  /** Receivers that are still stopping: a channel has one receiver at a time. */
  private readonly leaving = new Map<string, Promise<void>>();
  private desired: readonly string[] = [];
  private announced: readonly string[] = [];
  private stopListening: () => void = () => undefined;
  private readonly poller = new Poller({
    everyMs: POLL_MS,
    look: () => this.renewLeases().catch((error: unknown) => this.onRenewalFailure(error)),
    failed: (error) => this.logger.error('channels could not be supervised', { error: String(error) }),
  });
  /** Released since the leases were last requested, so that the response is out of date for them. */
  private readonly released = new Set<string>();
  private renewedAt = performance.now();
  private isStopped = false;
  private failing = false;

  constructor(
    private readonly settings: Settings,
    private readonly changes: SettingsChanges,
    private readonly states: ChannelStates,
    private readonly adapters: ChannelAdapters,
    private readonly parts: RunnerPartsFactory,
    private readonly readiness: Readiness,
    logs: Logs,
  ) {
    this.logger = logs.for('channels');
  }

  onApplicationBootstrap(): void {
    this.stopListening = this.changes.listen(['channels_config'], ({ after }) =>
      this.follow(enabledChannels(after)),
    );
    this.follow(enabledChannels(this.settings.current));
    this.poller.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopListening();
    this.isStopped = true;
    await this.poller.stop();
    for (const name of [...this.held.keys()]) this.leave(name, 'reconnecting');
    await Promise.all(this.leaving.values());
  }

  /** Whether an enabled channel fails to connect, on any replica. */
  get isFailing(): boolean {
    return this.failing;
  }

  /** The receiving replica reconnects; at once if it is this one. */
  async restart(name: string): Promise<void> {
    const restarts = await this.states.restart(name);
    const held = this.held.get(name);
    if (held !== undefined) restartOnce(held, restarts);
  }

  private follow(desired: ReadonlyMap<string, ChannelSettings>): void {
    for (const name of this.adapters.follow(desired)) {
      this.leave(name, desired.has(name) ? 'reconnecting' : 'disconnected');
    }
    this.desired = [...desired.keys()];
    this.poller.wake();
  }

  private async renewLeases(): Promise<void> {
    if (this.readiness.isDraining) {
      for (const name of [...this.held.keys()]) this.leave(name, 'reconnecting');
      return;
    }
    const { desired } = this;
    if (desired.length === 0) {
      this.failing = false;
      return;
    }
    if (this.announced !== desired) await this.states.announce(desired);
    this.announced = desired;
    const askedAt = performance.now();
    this.released.clear();
    const leases = await this.states.acquire(desired.filter((name) => !this.leaving.has(name)));
    this.renewedAt = askedAt;
    if (this.isStopped) return;
    const names = new Set(leases.map(({ name }) => name));
    for (const name of [...this.held.keys()]) if (!names.has(name)) this.leave(name, 'reconnecting');
    for (const lease of leases) if (!this.released.has(lease.name)) this.hold(lease);
    const states = await this.states.ofAll(desired);
    this.failing = [...states.values()].some(({ error }) => error !== undefined);
  }

  private hold(lease: HeldLease): void {
    const { name, fence, restarts } = lease;
    const held = this.held.get(name);
    if (held?.lease.fence !== fence) {
      if (held !== undefined) this.leave(name, 'reconnecting');
      if (this.leaving.has(name) || !this.desired.includes(name)) return;
      const runner = new ChannelRunner(this.parts.of(lease));
      this.held.set(name, { lease, runner, restarts });
      runner.start();
      return;
    }
    held.runner.reportAgain();
    restartOnce(held, restarts);
  }

  /** Stops receiving and releases the lease. */
  private leave(name: string, status: 'reconnecting' | 'disconnected'): void {
    const held = this.held.get(name);
    if (held === undefined) return;
    this.held.delete(name);
    const gone = held.runner
      .stop(status)
      .then(() => this.states.release(held.lease))
      .catch((error: unknown) => this.logger.debug('a lease could not be released', { error: String(error) }))
      .finally(() => {
        this.leaving.delete(name);
        this.released.add(name);
        this.poller.wake();
      });
    this.leaving.set(name, gone);
  }

  private onRenewalFailure(error: unknown): void {
    const isOver = performance.now() - this.renewedAt > RECEIVER_LEASE_SECS * 1000;
    if (!isOver || this.held.size === 0) return;
    this.logger.warn('channels stop receiving: their leases could not be renewed', { error: String(error) });
    for (const name of [...this.held.keys()]) this.leave(name, 'reconnecting');
  }
}

/** A restart may be seen twice, by the request and by the poll, in any order. */
function restartOnce(held: Held, restarts: number): void {
  if (held.restarts >= restarts) return;
  held.restarts = restarts;
  held.runner.restart();
}

function enabledChannels({
  channels_config: channels,
}: GatewaySettings): ReadonlyMap<string, ChannelSettings> {
  return new Map(Object.entries(channels).filter(([, { enabled }]) => enabled));
}
