import { Injectable } from '@nestjs/common';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { Redactor } from '../../../platform/logging/redactor.js';
import { type AttemptEnd, Supervisor } from '../../../platform/runtime/supervisor.js';
import { ChannelDirectory } from '../../sessions/sessions.api.js';
import { ApprovalClicks } from '../approvals/approval-clicks.service.js';
import type { ChannelStatus } from '../channel.port.js';
import { ChannelActivity } from '../channel-activity.js';
import type { ChannelAdapter, InboundMessage, ReceiverLink } from '../channel-adapter.port.js';
import { ChannelAdapters } from '../channel-adapters.js';
import { ChannelRefused, ChannelUnreachable } from '../channel-failures.js';
import { ChannelStates, type ReceiverLease } from '../channel-states.store.js';
import { ConversationStore } from '../conversations/conversation.store.js';
import { ConversationWorker } from '../conversations/conversation-worker.service.js';
import { Inbox } from '../inbound/inbox.store.js';
import { readable } from '../inbound/message-text.js';
import { admissionOf } from '../inbound/sender.js';

const FIRST_PAUSE_MS = 2000;
const MAX_PROBLEM = 300;

export interface RunnerParts {
  readonly logger: Logger;
  /** Throws `ChannelRefused` when the settings are incomplete. */
  adapter(): Promise<ChannelAdapter>;
  cursor(): Promise<ReceiverLink['cursor']>;
  readonly conversations: ReceiverLink['conversations'];
  readonly store: ReceiverLink['store'];
  readonly clicked: ReceiverLink['clicked'];
  /** Called on every change and repeated until it resolves; false when the lease is lost. `error` is redacted. */
  write(status: ChannelStatus, error: string | undefined): Promise<boolean>;
  redact(text: string): string;
}

/** Receives for one channel while this replica holds its lease; reconnects with back-off. */
export class ChannelRunner {
  /** A lost connection is retried at once: platforms renew theirs, and the attempt shows whether we are refused now. */
  private readonly supervisor = new Supervisor({
    ...{ firstPauseMs: FIRST_PAUSE_MS, isLossRetriedAtOnce: true },
    attempt: (signal) => this.live(signal),
    isFinal: (why) => why instanceof ChannelRefused,
    leastPauseMs: (why) => (why instanceof ChannelUnreachable ? (why.retryAfterMs ?? 0) : 0),
    ended: (why, pauseMs) => this.ended(why, pauseMs),
  });
  private writing: Promise<void> = Promise.resolve();
  /** Why it is not connected; reported until it is, also while it reconnects. */
  private problem: string | undefined;
  private target: { readonly status: ChannelStatus; readonly error: string | undefined } | undefined;

  constructor(private readonly parts: RunnerParts) {}

  start(): void {
    this.supervisor.start();
  }

  /** Resolves when it no longer receives and its final status is stored. */
  async stop(status: 'reconnecting' | 'disconnected'): Promise<void> {
    await this.supervisor.stop();
    this.report(status, undefined);
    await this.writing;
  }

  /** Ends the current connection and opens a new one, without back-off. */
  restart(): void {
    this.problem = undefined;
    this.supervisor.restart();
  }

  /** Stores the last status again if that failed. */
  reportAgain(): void {
    const { target } = this;
    if (target !== undefined) this.report(target.status, target.error);
  }

  /** Opens one connection and waits for its end. */
  private async live(signal: AbortSignal): Promise<AttemptEnd> {
    this.report('reconnecting', this.problem);
    let upAt: number | undefined;
    let why: unknown = new ChannelUnreachable('the platform ended the connection');
    const connected = (): void => {
      if (signal.aborted || upAt !== undefined) return;
      upAt = performance.now();
      this.problem = undefined;
      this.parts.logger.info('connected');
      this.report('connected', undefined);
    };
    try {
      const adapter = await this.parts.adapter();
      const { store, clicked, conversations } = this.parts;
      const cursor = await this.parts.cursor();
      await adapter.receive({ cursor, conversations, connected, store, clicked }, signal);
    } catch (error) {
      why = error;
    }
    return { why, lastedMs: upAt === undefined ? 0 : performance.now() - upAt };
  }

  private ended(why: unknown, pauseMs: number | undefined): void {
    const error = this.parts.redact(why instanceof Error ? why.message : String(why)).slice(0, MAX_PROBLEM);
    this.problem = error;
    if (pauseMs === undefined) {
      this.parts.logger.warn('the platform refuses this channel; restart it or change its settings', {
        reason: error,
      });
      this.report('disconnected', error);
      return;
    }
    this.parts.logger.warn('the channel is not connected', {
      reason: error,
      retry_in_ms: Math.round(pauseMs),
    });
    this.report('reconnecting', error);
  }

  /** Stores statuses in order; while one is being stored, a newer one replaces the waiting one. */
  private report(status: ChannelStatus, error: string | undefined): void {
    const report = { status, error };
    this.target = report;
    this.writing = this.writing.then(async () => {
      if (this.target !== report) return;
      const isWritten = await this.parts.write(status, error).then(
        () => true,
        () => false,
      );
      if (isWritten && this.target === report) this.target = undefined;
    });
  }
}

const MAX_CONVERSATIONS = 200;

/** Connects the receiver of one channel to the stores, under one lease. */
@Injectable()
export class RunnerPartsFactory {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly states: ChannelStates,
    private readonly directory: ChannelDirectory,
    private readonly inbox: Inbox,
    private readonly conversations: ConversationStore,
    private readonly worker: ConversationWorker,
    private readonly clicks: ApprovalClicks,
    private readonly activity: ChannelActivity,
    private readonly redactor: Redactor,
    private readonly logs: Logs,
  ) {}

  of(lease: ReceiverLease): RunnerParts {
    const { name } = lease;
    const logger = this.logs.for(`channel::${name}`);
    return {
      logger,
      adapter: () => this.adapters.get(name),
      cursor: () => this.states.cursorOf(name),
      conversations: () => this.conversations.recent(name, MAX_CONVERSATIONS),
      store: async (messages, cursor) => {
        const admitted = messages.flatMap((message) => this.admitted(name, message, logger));
        const added = await this.inbox.receive(lease, admitted, cursor);
        if (added === 0) return;
        this.activity.note(name);
        this.worker.wake();
      },
      clicked: (click) => this.clicks.receive(name, click),
      write: (status, error) => this.states.write(lease, status, error),
      redact: (text) => this.redactor.redact(text),
    };
  }

  private admitted(name: string, sent: InboundMessage, logger: Logger): InboundMessage[] {
    const message = readable(sent);
    if (message !== undefined) return this.admits(name, message, logger) ? [message] : [];
    logger.warn('a message cannot be read; it is left out', { message: sent.externalId });
    return [];
  }

  private admits(name: string, message: InboundMessage, logger: Logger): boolean {
    const settings = this.directory.settingsOf(name);
    const admission = settings === undefined ? 'not_allowed' : admissionOf(message, settings);
    if (admission === 'not_allowed') {
      // Operators need the id to add the sender to allowed_users.
      logger.info('sender is not in allowed_users; message ignored', { sender: message.sender.id });
    }
    return admission === 'admitted';
  }
}
