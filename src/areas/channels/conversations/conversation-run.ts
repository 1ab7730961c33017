import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AgentNotAllowed } from '../../../platform/tokens/agent-access.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { senderUserId } from '../../../platform/tokens/user-ids.js';
import type { MessagesService, SessionsService } from '../../sessions/sessions.api.js';
import {
  SessionEnded,
  SessionNotFound,
  type StartedTurn,
  type TurnFile,
  type TurnFiles,
  TurnInProgress,
  TurnLimitReached,
  type TurnResult,
  type TurnResults,
} from '../../turns/turns.api.js';
import type { ChannelAdapter } from '../channel-adapter.port.js';
import { RetryLater } from '../channel-failures.js';
import { splitMarkdown } from '../formatting/split-markdown.js';
import type { Inbox, OpenMessage } from '../inbound/inbox.store.js';
import type { MessageFiles, ReadMessage } from '../inbound/message-files.js';
import { SPEAKERS_NOTE } from '../inbound/sender.js';
import { DraftWriter } from '../replies/draft-writer.js';
import type { ReplyStore } from '../replies/reply.store.js';
import type { ReplySender } from '../replies/reply-sender.js';
import { REPLY_TEXTS, replyText, unsentFile } from '../replies/reply-text.js';
import type { ChannelQuestions } from './channel-questions.js';
import type { ConversationClaim, ConversationStore } from './conversation.store.js';

const BUSY_MS = 1000;
/** How often a conversation whose turn waits for a person is checked. */
const AWAITING_MS = 2000;
const POLL_MS = 250;
/** Files that an answer names because it does not bring them. */
const MAX_NAMED = 10;

export interface RunParts {
  readonly inbox: Inbox;
  readonly files: MessageFiles;
  readonly conversations: ConversationStore;
  readonly replies: ReplyStore;
  readonly sender: ReplySender;
  readonly sessions: SessionsService;
  readonly messages: MessagesService;
  readonly results: TurnResults;
  readonly doneSignal: DoneSignal;
  readonly turnFiles: TurnFiles;
  readonly questions: ChannelQuestions;
}

interface Answer {
  readonly text: string;
  readonly files: readonly TurnFile[];
}

export interface RunTerms {
  readonly claim: ConversationClaim;
  readonly adapter: ChannelAdapter;
  readonly streamIntervalMs: number;
  /** Whether new turns may start; finished answers are sent in any case. */
  readonly mayStart: () => boolean;
}

/**
 * Answers the open messages of one conversation in order. Every step is stored before the next one, so that another replica
 * can resume it: it finds the turn by the id of its message, and each message starts one turn.
 */
export class ConversationRun {
  private sessionId: string | null;
  private readonly caller: Caller;

  constructor(
    private readonly parts: RunParts,
    private readonly terms: RunTerms,
    private readonly signal: AbortSignal,
  ) {
    const { channel, sessionId } = terms.claim;
    this.sessionId = sessionId;
    const tokenId = `channel:${channel}`;
    this.caller = { tokenId, tokenName: channel, scopes: [], boundUserId: null, channel };
  }

  /** Resolves when no message is open. Throws `RetryLater`, `LeaseLost`, and `Unavailable` without a database. */
  async run(): Promise<void> {
    const { inbox, replies, sender } = this.parts;
    const { claim, adapter } = this.terms;
    while (!this.signal.aborted) {
      const message = await inbox.next(claim.channel, claim.conversation);
      if (message === undefined) return;
      if (message.answeredAt === null) {
        const { text, files } = await this.answer(message);
        const parts = [...splitMarkdown(text, adapter.maxReplyLength), ...files];
        await replies.write(claim, message, parts, adapter.answersInResponse ? 'sent' : 'pending');
      }
      await sender.send({ claim, message, adapter }, this.signal);
      await inbox.done(message);
      this.parts.doneSignal.done(message.messageId);
    }
  }

  private async answer(message: OpenMessage): Promise<Answer> {
    if (message.content === '' && !message.files.some(({ where }) => where !== null)) {
      return textOnly(REPLY_TEXTS.unreadable);
    }
    const before = await this.parts.results.of(message.messageId);
    try {
      if (before === undefined || before.status === 'waiting') await this.runTurn(message, before);
    } catch (error) {
      if (error instanceof TurnLimitReached && error.isBudget) return textOnly(REPLY_TEXTS.budgetSpent);
      if (error instanceof AgentNotAllowed) return textOnly(REPLY_TEXTS.notAllowed);
      throw error;
    }
    const result = await this.asking(message, () => this.result(message));
    const { files, notes } = await this.filesOf(result);
    const texts = [replyText(result), notes, await this.parts.files.notesFor(message, result.unseenMedia)];
    return { text: texts.filter(Boolean).join('\n\n'), files };
  }

  /** What tools made in the turn: the files to be sent, and what is said of those that are not. */
  private async filesOf({ turnId }: TurnResult): Promise<{ files: readonly TurnFile[]; notes: string }> {
    const made = await this.parts.turnFiles.of(turnId);
    const canSend = this.terms.adapter.sendFile !== undefined;
    const files = made.filter(({ isKept }) => isKept && canSend);
    const reason = canSend ? REPLY_TEXTS.tooManyFiles : REPLY_TEXTS.noFiles;
    const unsent = made.filter((file) => !files.includes(file)).slice(0, MAX_NAMED);
    if (made.length > 0 && files.length === 0) await this.parts.turnFiles.forget(turnId);
    return { files, notes: unsent.map(({ name }) => unsentFile(name, reason)).join('\n') };
  }

  private async runTurn(message: OpenMessage, waiting: TurnResult | undefined): Promise<void> {
    if (!this.terms.mayStart()) throw new RetryLater('the gateway is stopping', 0);
    // The replica that queued it is gone.
    if (waiting !== undefined) await this.parts.results.forgetWaiting(waiting);
    const { adapter } = this.terms;
    const started = await this.parts.files.read(message, adapter, this.signal, (read) =>
      this.startTurn(message, read),
    );
    const reply = { claim: this.terms.claim, message, adapter };
    const draft = new DraftWriter(reply, this.parts.replies, started.live, this.terms.streamIntervalMs);
    // The outcome is read from the database, as after a crash.
    await this.asking(message, () => started.answer.catch(() => undefined));
    await draft.end();
  }

  /** What tools want to know meanwhile is asked in the chat, where one can be written to. */
  private async asking<Result>(message: OpenMessage, work: () => Promise<Result>): Promise<Result> {
    const { sessionId } = this;
    const { adapter } = this.terms;
    if (sessionId === null || adapter.answersInResponse) return work();
    const over = new AbortController();
    const signal = AbortSignal.any([this.signal, over.signal]);
    const watching = this.parts.questions.watch({ message, adapter, sessionId }, signal);
    try {
      return await work();
    } finally {
      over.abort();
      await watching;
    }
  }

  /** An ended session is replaced by a new one, and the conversation continues. */
  private async startTurn(message: OpenMessage, read: ReadMessage): Promise<StartedTurn> {
    const { messageId: id, userId: sender } = message;
    const systemNote = message.isGroup ? SPEAKERS_NOTE : undefined;
    const sessionId = this.sessionId ?? (await this.newSession(message));
    try {
      return await this.parts.messages.start(
        sessionId,
        { id, ...read, systemNote },
        // In a group everybody shares the session, but tools act for the writer of the message.
        { ...this.caller, verifiedUserId: senderUserId(sender) },
      );
    } catch (error) {
      if (error instanceof TurnLimitReached && error.limit === 'api_token_stored_bytes') {
        return this.startTurn(
          message,
          this.parts.files.without(message, 'I may not keep more files for now'),
        );
      }
      if (error instanceof TurnLimitReached && !error.isBudget) throw new RetryLater('a limit', BUSY_MS);
      if (error instanceof TurnInProgress) throw new RetryLater('the session is busy', BUSY_MS);
      if (!(error instanceof SessionEnded) && !(error instanceof SessionNotFound)) throw error;
      this.sessionId = null;
      return this.startTurn(message, read);
    }
  }

  private async newSession({ userId, conversation }: OpenMessage): Promise<string> {
    const { claim } = this.terms;
    const verifiedUserId = senderUserId(userId);
    const input = { channel: claim.channel, userId: verifiedUserId, metadata: { conversation } };
    const { id } = await this.parts.sessions.create(input, { ...this.caller, verifiedUserId });
    await this.parts.conversations.setSession(claim, id);
    this.sessionId = id;
    return id;
  }

  /** Waits for a turn on another replica: it ends, or its lease expires within seconds. */
  private async result({ messageId }: OpenMessage): Promise<TurnResult> {
    for (;;) {
      const result = await this.parts.results.of(messageId);
      if (result === undefined) throw new RetryLater('the turn did not start', BUSY_MS);
      if (result.status === 'awaiting_approval')
        throw new RetryLater('a person has to allow a tool call', AWAITING_MS, false);
      if (result.status !== 'running' && result.status !== 'waiting') return result;
      await sleep(POLL_MS, undefined, { signal: this.signal });
    }
  }
}

function textOnly(text: string): Answer {
  return { text, files: [] };
}

/** Wakes requests of this process that wait for a message to be done. Waiters check again anyway, after their time limit. */
@Injectable()
export class DoneSignal {
  /** Bounded by the number of open requests. */
  private readonly waiting = new Map<string, Set<() => void>>();

  done(messageId: string): void {
    for (const wake of this.waiting.get(messageId) ?? []) wake();
  }

  /** Resolves when the message is done in this process, or after `atMostMs`. */
  wait(messageId: string, atMostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wakers = this.waiting.get(messageId) ?? new Set();
      const wake = (): void => {
        clearTimeout(timer);
        wakers.delete(wake);
        if (wakers.size === 0) this.waiting.delete(messageId);
        resolve();
      };
      const timer = setTimeout(wake, atMostMs);
      wakers.add(wake);
      this.waiting.set(messageId, wakers);
    });
  }
}
