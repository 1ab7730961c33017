import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../common/errors/gateway-error.js';
import { EventStore } from '../../../platform/events/event.store.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { backOffMs } from '../../../platform/runtime/back-off.js';
import type { ChannelAdapter, OutboundReply } from '../channel-adapter.port.js';
import { NotSent, RetryLater } from '../channel-failures.js';
import type { ConversationClaim } from '../conversations/conversation.store.js';
import type { OpenMessage } from '../inbound/inbox.store.js';
import { type ReplyPart, ReplyStore } from './reply.store.js';
import { REPLY_TEXTS } from './reply-text.js';

const FIRST_PAUSE_MS = 2000;
const NOTE_RETRY_MS = 200;
/** An answer that the platform has not taken for so long is given up. */
const GIVE_UP_MS = 24 * 3_600_000;

export interface SentReply {
  readonly claim: ConversationClaim;
  readonly message: OpenMessage;
  readonly adapter: ChannelAdapter;
}

/**
 * Sends the parts of an answer in their order. Before a part leaves, that is written down; one of which nobody knows
 * whether it arrived is not sent again, and the reader is told so instead.
 */
@Injectable()
export class ReplySender {
  private readonly logger: Logger;

  constructor(
    private readonly store: ReplyStore,
    private readonly events: EventStore,
    logs: Logs,
  ) {
    this.logger = logs.for('channels::replies');
  }

  /** Throws `RetryLater` when the platform cannot take it now, and `LeaseLost`. */
  async send(reply: SentReply, signal: AbortSignal): Promise<void> {
    const { messageId } = reply.message;
    for (const part of await this.store.partsOf(messageId)) await this.sendPart(reply, part, signal);
    const parts = await this.store.partsOf(messageId);
    const isToldOf = parts.some(({ content }) => content === REPLY_TEXTS.maybeLost);
    if (isToldOf || !parts.some(({ status }) => status === 'unknown')) return;
    await this.store.add(reply.message, REPLY_TEXTS.maybeLost);
    await this.send(reply, signal);
  }

  private async sendPart(reply: SentReply, part: ReplyPart, signal: AbortSignal): Promise<void> {
    if (part.status !== 'pending' && part.status !== 'sending') return;
    const { message, adapter } = reply;
    const isSafe = part.externalId !== null || adapter.dropsDuplicates;
    if (part.status === 'sending' && !isSafe) {
      await this.store.ended(message, part.part, 'unknown', {
        error: 'the gateway stopped while it was sent',
      });
      return;
    }
    await this.store.sending(reply.claim, message, part.part);
    try {
      const externalId = await this.handOver(reply, part, signal);
      await this.noteSent(message, part.part, externalId, signal);
    } catch (error) {
      if (!(error instanceof NotSent)) throw error;
      await this.failed(reply, part, error, signal);
    }
  }

  /** As long as the database is away for less than the lease of the conversation, what is known here is not lost. */
  private async noteSent(
    message: OpenMessage,
    part: number,
    externalId: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      try {
        await this.store.ended(message, part, 'sent', { externalId });
        return;
      } catch (error) {
        if (!(error instanceof Unavailable) || signal.aborted) throw error;
        await sleep(NOTE_RETRY_MS, undefined, { signal });
      }
    }
  }

  private async handOver(
    { message, adapter }: SentReply,
    { part, content: text, externalId }: ReplyPart,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const reply: OutboundReply = { target: message.target, text, key: `${message.messageId}_${part}` };
    if (externalId === null || adapter.edit === undefined) return adapter.send(reply, signal);
    await adapter.edit(externalId, reply, signal);
    return externalId;
  }

  private async failed(
    reply: SentReply,
    part: ReplyPart,
    error: NotSent,
    signal: AbortSignal,
  ): Promise<void> {
    const { message, claim } = reply;
    if (error.why === 'never' && part.externalId !== null) {
      // What was shown while it was written is gone, or cannot be changed any more: the answer is a message of its own.
      await this.store.untie(message, part.part);
      await this.sendPart(reply, { ...part, status: 'pending', externalId: null }, signal);
      return;
    }
    const isLate = Date.now() - message.receivedAt.getTime() > GIVE_UP_MS;
    if (error.why === 'again' && !isLate) {
      await this.store.ended(message, part.part, 'pending', { error: error.message });
      throw new RetryLater(error.message, error.retryAfterMs ?? backOffMs(claim.failures, FIRST_PAUSE_MS));
    }
    const status = error.why === 'unknown' ? 'unknown' : 'failed';
    await this.store.ended(message, part.part, status, { error: error.message });
    await this.complain(message, status, error);
  }

  private async complain(message: OpenMessage, status: 'unknown' | 'failed', error: NotSent): Promise<void> {
    const { channel: name, messageId } = message;
    const sentence = {
      unknown: 'it is not known whether an answer arrived; it is not sent again, and the reader is told',
      failed: 'an answer could not be sent and is given up; it is in the history of its session',
    };
    this.logger.warn(sentence[status], { channel: name, message_id: messageId, reason: error.message });
    if (status === 'unknown') return;
    const data = { source: 'channel', reason: 'reply_not_sent', name } as const;
    await this.events.publish({ name: 'error.occurred', userId: message.userId, data });
  }
}
