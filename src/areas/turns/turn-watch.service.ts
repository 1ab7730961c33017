import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { LeaseKeeper } from '../../platform/runtime/lease-keeper.js';
import { Poller } from '../../platform/runtime/poller.js';
import { TokenStore } from '../../platform/tokens/token.store.js';
import { TurnRelays } from './relay/turn-relays.service.js';
import { RunningTurns } from './running-turns.js';
import { TurnHub } from './turn-hub.js';
import { LEASE_SECS } from './turn-lease.js';
import { TurnLeases } from './turn-leases.store.js';
import { TurnCancelled, TurnInterrupted, TurnOfRevokedToken, TurnStopped } from './turns.errors.js';

/** Twice this time, plus what an abort takes, is less than the second within which a cancelled turn has to end. */
const POLL_MS = 400;

/**
 * Looks after the turns that run here: renews their leases, aborts those whose session was ended through another replica
 * or whose token was revoked or whose lease is lost, and shows them to other replicas that have viewers.
 */
@Injectable()
export class TurnWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly poller = new Poller({
    everyMs: POLL_MS,
    look: () => this.poll(),
    failed: (error) =>
      this.logger.warn('running turns could not be checked; will retry', { error: String(error) }),
  });
  /** A turn whose lease could not be renewed goes on until the database says whose it is: every write of it asks for that anyway. */
  private readonly keeper = new LeaseKeeper<number>({
    leaseMs: LEASE_SECS * 1000,
    held: () => this.running.olderThan(POLL_MS),
    renew: (turns) => this.renew(turns),
    // A turn that has just ended holds no lease, and another may run already: only this one is meant.
    lost: (sessionId, fence) => this.running.abortTurn(sessionId, fence, new TurnInterrupted()),
    failed: (error, turns) =>
      this.logger.warn('the leases of running turns could not be renewed; will retry', {
        turns,
        error: String(error),
      }),
  });

  constructor(
    private readonly running: RunningTurns,
    private readonly leases: TurnLeases,
    private readonly hub: TurnHub,
    private readonly relays: TurnRelays,
    private readonly tokens: TokenStore,
    logs: Logs,
  ) {
    this.logger = logs.for('agent::turn');
  }

  onApplicationBootstrap(): void {
    this.poller.start();
    this.keeper.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.poller.stop();
    await this.keeper.stop();
  }

  private async poll(): Promise<void> {
    const turns = this.running.olderThan(POLL_MS);
    const owners = this.running.ownersAfter(POLL_MS);
    if (owners.length === 0) return;
    if (turns.size > 0) await this.applySignals(turns);
    await this.endRevoked(owners);
  }

  private async applySignals(turns: ReadonlyMap<string, number>): Promise<void> {
    for (const { id, ended, cancelled, watched } of await this.leases.signals([...turns.keys()])) {
      if (ended) this.running.abort(id, new TurnCancelled());
      else if (cancelled) this.running.abortTurn(id, turns.get(id), new TurnStopped());
      else this.relays.setWatched(this.hub.current(id), watched);
    }
  }

  /** Read from the database each time: a turn may begin with what a replica knew about its token half a second ago. */
  private async endRevoked(owners: readonly string[]): Promise<void> {
    const ended = await this.tokens.endedAmong(owners);
    if (ended.size > 0) this.running.abortOf(ended, new TurnOfRevokedToken());
  }

  private async renew(turns: ReadonlyMap<string, number>): Promise<ReadonlySet<string>> {
    const fences = await this.leases.renew([...turns.keys()]);
    return new Set([...turns].filter(([id, fence]) => fences.get(id) === fence).map(([id]) => id));
  }
}
