import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { stackOf } from '../../../common/errors/error-text.js';
import { Readiness } from '../../../platform/lifecycle/readiness.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { backOffMs } from '../../../platform/runtime/back-off.js';
import { LeaseKeeper } from '../../../platform/runtime/lease-keeper.js';
import { Poller } from '../../../platform/runtime/poller.js';
import { ChannelDirectory, MessagesService, SessionsService } from '../../sessions/sessions.api.js';
import { TurnFiles, TurnResults } from '../../turns/turns.api.js';
import { ChannelAdapters } from '../channel-adapters.js';
import { LeaseLost, RetryLater } from '../channel-failures.js';
import { Inbox } from '../inbound/inbox.store.js';
import { MessageFiles } from '../inbound/message-files.js';
import { ReplyStore } from '../replies/reply.store.js';
import { ReplySender } from '../replies/reply-sender.js';
import { ChannelQuestions } from './channel-questions.js';
import {
  CONVERSATION_LEASE_SECS,
  type ConversationClaim,
  ConversationStore,
  conversationKey,
} from './conversation.store.js';
import { ConversationRun, DoneSignal, type RunParts } from './conversation-run.js';

/** Polling finds what another replica, or a crash, has left behind. */
const POLL_MS = 1000;
/** Conversations that one process handles at once; the others wait. */
const MAX_AT_ONCE = 256;
const FIRST_PAUSE_MS = 1000;
const FINISH_MS = 5000;

interface HeldConversation {
  readonly claim: ConversationClaim;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/** Answers channel messages: conversations in parallel, the messages of each in order. */
@Injectable()
export class ConversationWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger: Logger;
  private readonly held = new Map<string, HeldConversation>();
  private readonly parts: RunParts;
  private isStopped = false;
  private readonly poller = new Poller({
    everyMs: POLL_MS,
    look: () => this.claim(),
    failed: (error) =>
      this.logger.warn('inbound channel messages cannot be claimed; will retry', { error: String(error) }),
  });
  private readonly keeper = new LeaseKeeper<HeldConversation>({
    ...{ leaseMs: CONVERSATION_LEASE_SECS * 1000, isLostByTime: true, held: () => this.held },
    renew: (held) => this.conversations.renew([...held.values()].map(({ claim }) => claim)),
    lost: (_key, { abort }) => abort.abort(new LeaseLost()),
    failed: (error, conversations) =>
      this.logger.warn('leases of channel conversations could not be renewed; will retry', {
        conversations,
        error: String(error),
      }),
  });

  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly directory: ChannelDirectory,
    private readonly readiness: Readiness,
    private readonly conversations: ConversationStore,
    inbox: Inbox,
    files: MessageFiles,
    replies: ReplyStore,
    sender: ReplySender,
    sessions: SessionsService,
    messages: MessagesService,
    results: TurnResults,
    doneSignal: DoneSignal,
    turnFiles: TurnFiles,
    questions: ChannelQuestions,
    logs: Logs,
  ) {
    this.logger = logs.for('channels::conversations');
    this.parts = {
      inbox,
      files,
      conversations,
      replies,
      sender,
      sessions,
      messages,
      results,
      doneSignal,
      turnFiles,
      questions,
    };
  }

  onApplicationBootstrap(): void {
    this.poller.start();
    this.keeper.start();
  }

  /** This replica has stored a message. */
  wake(): void {
    this.poller.wake();
  }

  /** Sends finished answers within 5 s; messages without a turn are left to other replicas, or to the next start. */
  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    await this.poller.stop();
    const all = Promise.all([...this.held.values()].map(({ ended }) => ended));
    const timer = setTimeout(() => this.abortAll(new Error('the gateway is stopping')), FINISH_MS);
    await all;
    clearTimeout(timer);
    await this.keeper.stop();
  }

  private async claim(): Promise<void> {
    if (this.readiness.isDraining) return;
    const names = this.adapters.names();
    const free = MAX_AT_ONCE - this.held.size;
    if (names.length === 0 || free <= 0) return;
    for (const claim of await this.conversations.claim(names, free)) this.start(claim);
  }

  private start(claim: ConversationClaim): void {
    const key = conversationKey(claim);
    const abort = new AbortController();
    const ended = this.run(claim, abort.signal).finally(() => {
      if (this.held.get(key)?.abort === abort) this.held.delete(key);
      this.wake();
    });
    this.held.set(key, { claim, abort, ended });
  }

  /** Never rejects. */
  private async run(claim: ConversationClaim, signal: AbortSignal): Promise<void> {
    try {
      const { retryInMs, failures } = await this.answerIn(claim, signal);
      await this.conversations.release(claim, retryInMs, failures);
    } catch (error) {
      // Its lease expires, and any replica claims it then.
      if (!(error instanceof LeaseLost))
        this.logger.warn('a conversation is paused for now', {
          channel: claim.channel,
          error: String(error),
        });
    }
  }

  /** @returns in how many milliseconds to claim it again, null when no message is open; and the failures in a row until then */
  private async answerIn(
    claim: ConversationClaim,
    signal: AbortSignal,
  ): Promise<{ readonly retryInMs: number | null; readonly failures: number }> {
    const { channel, failures } = claim;
    try {
      const adapter = await this.adapters.get(channel);
      const streamIntervalMs = this.directory.settingsOf(channel)?.stream_interval_ms ?? 0;
      const mayStart = (): boolean => !this.readiness.isDraining && !this.isStopped;
      await new ConversationRun(this.parts, { claim, adapter, streamIntervalMs, mayStart }, signal).run();
      return { retryInMs: null, failures: 0 };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof LeaseLost) throw error;
      if (error instanceof RetryLater)
        return { retryInMs: error.afterMs, failures: error.isFailure ? failures + 1 : failures };
      this.logger.warn('a conversation could not be answered; will retry', {
        channel,
        error: stackOf(error),
      });
      return { retryInMs: backOffMs(failures, FIRST_PAUSE_MS), failures: failures + 1 };
    }
  }

  private abortAll(reason: Error): void {
    for (const { abort } of this.held.values()) abort.abort(reason);
  }
}
