import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../common/errors/gateway-error.js';
import { EventStore } from '../../../platform/events/event.store.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import { backOffMs } from '../../../platform/runtime/back-off.js';
import { Slots } from '../../../platform/runtime/slots.js';
import { TurnFiles } from '../../turns/turns.api.js';
import type { ChannelAdapter, OutboundReply } from '../channel-adapter.port.js';
import { NotSent, RetryLater } from '../channel-failures.js';
import type { ConversationClaim } from '../conversations/conversation.store.js';
import type { OpenMessage } from '../inbound/inbox.store.js';
import { type ReplyPart, ReplyStore } from './reply.store.js';
import { REPLY_TEXTS, unsentFile } from './reply-text.js';

const FIRST_PAUSE_MS = 2000;
const NOTE_RETRY_MS = 200;
/** How many files are held in memory at once, over all conversations. */
const MAX_FILES_AT_ONCE = 8;
/** An answer that the platform has not accepted for this long is given up, however long the turn took before. */
const GIVE_UP_MS = 24 * 3_600_000;
/** A file that the platform does not take must not hold up its conversation: after as many attempts it is given up. */
const MAX_FILE_ATTEMPTS = 6;

export interface SentReply {
  readonly claim: ConversationClaim;
  readonly message: OpenMessage;
  readonly adapter: ChannelAdapter;
}

/**
 * Sends the parts of an answer in order. Each part is marked before it leaves; if it is unknown whether it arrived, it is
 * not sent again, and the reader is told that something may be missing.
 */
@Injectable()
export class ReplySender {
  private readonly logger: Logger;
  private readonly slots = new Slots(MAX_FILES_AT_ONCE);

  constructor(
    private readonly store: ReplyStore,
    private readonly files: TurnFiles,
    private readonly events: EventStore,
    logs: Logs,
  ) {
    this.logger = logs.for('channels::replies');
  }

  /** Throws `RetryLater` when the platform does not accept it now, and `LeaseLost`. */
  async send(reply: SentReply, signal: AbortSignal): Promise<void> {
    const { messageId } = reply.message;
    for (const part of await this.store.partsOf(messageId)) {
      const sendPart = () => this.sendPart(reply, part, signal);
      await (part.file === null ? sendPart() : this.slots.run(sendPart));
    }
    const parts = await this.store.partsOf(messageId);
    const notes = notesAfter(parts).filter((note) => !parts.some(({ content }) => content === note));
    for (const note of notes) await this.store.add(reply.message, note);
    if (notes.length > 0) return this.send(reply, signal);
    await this.forgetFiles(reply, parts);
  }

  private async forgetFiles({ adapter }: SentReply, parts: readonly ReplyPart[]): Promise<void> {
    const kept = new Set<ReplyPart>();
    for (const part of adapter.keepsFile === undefined ? [] : parts) {
      if (part.file === null || part.status === 'failed') continue;
      const head = await this.files.head(part.file);
      if (head !== undefined && adapter.keepsFile?.(head) === true) kept.add(part);
    }
    const turns = new Set(parts.flatMap(({ file }) => file?.turnId ?? []));
    if (kept.size === 0) for (const turnId of turns) await this.files.forget(turnId);
    else
      for (const part of parts)
        if (part.file !== null && !kept.has(part)) await this.files.forgetOne(part.file);
  }

  private async sendPart(reply: SentReply, part: ReplyPart, signal: AbortSignal): Promise<void> {
    if (part.status !== 'pending' && part.status !== 'sending') return;
    const { message, adapter } = reply;
    const isSafe = part.externalId !== null || adapter.dropsDuplicates;
    if (part.status === 'sending' && !isSafe) {
      await this.store.ended(message, part.part, 'unknown', {
        error: 'the gateway stopped while sending it',
      });
      return;
    }
    await this.store.sending(reply.claim, message, part.part);
    try {
      const externalId = await this.deliver(reply, part, signal);
      await this.noteSent(message, part.part, externalId, signal);
    } catch (error) {
      if (!(error instanceof NotSent)) throw error;
      await this.failed(reply, part, error, signal);
    }
  }

  /** Retries while the database is away; only the end of the lease loses the outcome. */
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

  private async deliver(
    { message, adapter }: SentReply,
    reply: ReplyPart,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { part, content: text, externalId } = reply;
    const { target, messageId } = message;
    const key = partKey(messageId, part);
    if (reply.file !== null) {
      const { name, mimeType } = reply.file;
      const data = await this.files.read(reply.file);
      if (data === undefined) throw new NotSent('rejected', REPLY_TEXTS.fileGone);
      if (adapter.sendFile === undefined) throw new NotSent('rejected', REPLY_TEXTS.noFiles);
      return adapter.sendFile({ target, key, name, mimeType, data }, signal);
    }
    const sent: OutboundReply = { target, text, key };
    if (externalId === null || adapter.edit === undefined) return adapter.send(sent, signal);
    await adapter.edit(externalId, sent, signal);
    return externalId;
  }

  private async failed(
    reply: SentReply,
    part: ReplyPart,
    error: NotSent,
    signal: AbortSignal,
  ): Promise<void> {
    const { message, claim } = reply;
    if (error.why === 'rejected' && part.externalId !== null) {
      // The draft is gone or can no longer be edited: send the answer as a message of its own.
      await this.store.detach(message, part.part);
      await this.sendPart(reply, { ...part, status: 'pending', externalId: null }, signal);
      return;
    }
    const { answeredAt } = message;
    const isLate = answeredAt !== null && Date.now() - answeredAt.getTime() > GIVE_UP_MS;
    // `attempts` are those before this one. A platform that says when to come back has nothing against the file.
    const isTooOften =
      part.file !== null && error.retryAfterMs === undefined && part.attempts >= MAX_FILE_ATTEMPTS - 1;
    if (error.why === 'retry' && !isLate && !isTooOften) {
      await this.store.ended(message, part.part, 'pending', { error: error.message });
      throw new RetryLater(error.message, error.retryAfterMs ?? backOffMs(claim.failures, FIRST_PAUSE_MS));
    }
    const status = error.why === 'unknown' ? 'unknown' : 'failed';
    await this.store.ended(message, part.part, status, { error: error.message });
    await this.reportFailure(message, status, error);
  }

  private async reportFailure(
    message: OpenMessage,
    status: 'unknown' | 'failed',
    error: NotSent,
  ): Promise<void> {
    const { channel: name, messageId } = message;
    const sentences = {
      unknown: 'an answer may not have arrived; it is not sent again, and the reader is told',
      failed: 'an answer could not be sent and is given up; the history of its session has it',
    };
    this.logger.warn(sentences[status], { channel: name, message_id: messageId, reason: error.message });
    if (status === 'unknown') return;
    const data = { source: 'channel', reason: 'reply_not_sent', name } as const;
    await this.events.publish({ name: 'error.occurred', userId: message.userId, data });
  }
}

function partKey(messageId: string, part: number): string {
  return `${messageId}_${part}`;
}

/** What the reader is told when all parts have been tried. */
function notesAfter(parts: readonly ReplyPart[]): readonly string[] {
  const isLost = parts.some(({ status }) => status === 'unknown');
  const unsent = parts.flatMap(({ file, status, error }) =>
    file !== null && status === 'failed' ? [unsentFile(file.name, error ?? REPLY_TEXTS.noFiles)] : [],
  );
  return [...(isLost ? [REPLY_TEXTS.maybeLost] : []), ...(unsent.length > 0 ? [unsent.join('\n')] : [])];
}
