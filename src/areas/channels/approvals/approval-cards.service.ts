import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Readiness } from '../../../platform/lifecycle/readiness.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { backOffMs } from '../../../platform/runtime/back-off.js';
import { Poller } from '../../../platform/runtime/poller.js';
import { signalWithin } from '../../../platform/runtime/signal-within.js';
import { ChannelDirectory } from '../../sessions/sessions.api.js';
import { type ChannelAdapter } from '../channel-adapter.port.js';
import { ChannelAdapters } from '../channel-adapters.js';
import { ChannelRefused, NotSent } from '../channel-failures.js';
import { cardText, closedCard, newCode, openCard, outcomeText } from './approval-card.js';
import { ApprovalCardStore, CARD_LEASE_SECS, type DueCard, type StoredCard } from './approval-cards.store.js';

const POLL_MS = 1000;
const FORGET_MS = 600_000;
/** Shorter than the lease, so that no two replicas send at once. */
const CALL_MS = (CARD_LEASE_SECS * 1000) / 2;
const MAX_UNDER_WAY = 100;
const MAX_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 1000;

/**
 * Shows tool calls that wait, with buttons, in the conversations where they were asked, and what became of them. Every replica
 * looks; a lease lets one send. A message that may have arrived is sent again: both have the same buttons, and one decision counts.
 */
@Injectable()
export class ApprovalCards implements OnApplicationBootstrap, OnModuleDestroy {
  /** Notified when something was decided. */
  private readonly logger: Logger;
  private readonly stopped = new AbortController();
  private readonly underWay = new Set<Promise<void>>();
  private readonly poller = new Poller({
    everyMs: POLL_MS,
    look: () => this.poll(),
    failed: (error) =>
      this.logger.warn('waiting tool calls cannot be shown in channels; will retry', {
        error: String(error),
      }),
  });
  private forgottenAt = 0;

  constructor(
    private readonly store: ApprovalCardStore,
    private readonly adapters: ChannelAdapters,
    private readonly directory: ChannelDirectory,
    private readonly readiness: Readiness,
    private readonly redactor: Redactor,
    logs: Logs,
  ) {
    this.logger = logs.for('channels::approvals');
  }

  onApplicationBootstrap(): void {
    this.poller.start();
  }

  /** There may be something to show. */
  wake(): void {
    this.poller.wake();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped.abort(new Error('the gateway is stopping'));
    await this.poller.stop();
    await Promise.all(this.underWay);
  }

  private async poll(): Promise<void> {
    const channels = this.channels();
    if (channels.length > 0 && !this.readiness.isDraining) await this.look(channels);
  }

  /** Without approvers a channel shows no buttons, and costs no statement. */
  private channels(): readonly string[] {
    return this.adapters
      .names()
      .filter((name) => (this.directory.settingsOf(name)?.approvers ?? []).length > 0);
  }

  private async look(channels: readonly string[]): Promise<void> {
    if (this.underWay.size >= MAX_UNDER_WAY) return;
    for (const call of await this.store.withoutCard(channels)) {
      const code = newCode();
      const card = await this.store.claim(
        call,
        code,
        cardText(call.tool, this.redactor.redact(call.arguments)),
      );
      if (card !== undefined) this.begin(card, (adapter, signal) => this.show(card, adapter, signal));
    }
    for (const card of await this.store.due(channels)) {
      this.begin(card, (adapter, signal) =>
        card.waits ? this.show(card, adapter, signal) : this.close(card, adapter, signal),
      );
    }
    if (Date.now() - this.forgottenAt < FORGET_MS) return;
    this.forgottenAt = Date.now();
    await this.store.forgetOld();
  }

  /** A platform that cannot be reached holds up no other card. */
  private begin(
    card: StoredCard,
    work: (adapter: ChannelAdapter, signal: AbortSignal) => Promise<void>,
  ): void {
    const signal = signalWithin(CALL_MS, this.stopped.signal);
    const done = this.adapters
      .get(card.channel)
      .then((adapter) => work(adapter, signal))
      .catch((error: unknown) => this.failed(card, error))
      .finally(() => this.underWay.delete(done));
    this.underWay.add(done);
  }

  private async show(card: StoredCard, adapter: ChannelAdapter, signal: AbortSignal): Promise<void> {
    if (adapter.sendCard === undefined) return this.store.closed(card.approvalId);
    const externalId = await adapter.sendCard(card.target, openCard(card, card.code), signal);
    await this.store.shown(card.approvalId, externalId);
  }

  private async close(card: DueCard, adapter: ChannelAdapter, signal: AbortSignal): Promise<void> {
    const { approvalId, target, externalId, verdict, decider, decidedBy } = card;
    if (externalId !== null) {
      const outcome = outcomeText(verdict, decider ?? decidedBy);
      await adapter.editCard?.(externalId, target, closedCard(card, outcome), signal);
    }
    await this.store.closedAs(approvalId, decider);
  }

  /** Never rejects: without a database the lease runs out, and any replica tries again. */
  private async failed({ approvalId, channel, attempts }: StoredCard, error: unknown): Promise<void> {
    const isFinal = (error instanceof NotSent && error.why === 'rejected') || attempts >= MAX_ATTEMPTS;
    const reason = error instanceof Error ? error.message : String(error);
    try {
      if (isFinal) {
        this.logger.warn('a message about a waiting tool call is given up', { channel, reason });
        await this.store.closed(approvalId);
        return;
      }
      this.logger.debug('a message about a tool call was not sent; will retry', { channel, reason });
      const pauseMs = error instanceof NotSent ? (error.retryAfterMs ?? 0) : 0;
      const isAway = error instanceof ChannelRefused;
      await this.store.failed(
        approvalId,
        Math.max(pauseMs, backOffMs(isAway ? 6 : attempts, FIRST_PAUSE_MS)),
      );
    } catch {
      // See above.
    }
  }
}
