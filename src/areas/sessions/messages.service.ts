import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids/typeid.js';
import { Settings } from '../../platform/settings/settings.js';
import type { Caller } from '../../platform/tokens/caller.js';
import {
  AcceptedTurns,
  AttachmentFetcher,
  type HistoryPage,
  LostTurns,
  MessageOptionsCheck,
  MessageStore,
  type NewUserMessage,
  RunningTurns,
  type SentMessage,
  SessionEnded,
  type StartedTurn,
  TurnLeases,
  TurnQueue,
  TurnResults,
  TurnStarter,
  TurnStopped,
  toolContext,
} from '../turns/turns.api.js';
import { UnknownMessage } from './sessions.errors.js';
import { SessionsService } from './sessions.service.js';

export interface HistoryQuery {
  readonly limit: number;
  /** A message id; the page ends before it. */
  readonly before?: string | undefined;
}

/** A message that is stored. */
export interface AcceptedMessage {
  readonly userMessageId: string;
  /** Settles when its turn is over, if that began here at once. */
  readonly answer?: Promise<unknown>;
}

/** What people say in a session, and what the agent answers (docs/specification/silences.md, Turns). */
@Injectable()
export class MessagesService {
  constructor(
    private readonly sessions: SessionsService,
    private readonly queue: TurnQueue,
    private readonly starter: TurnStarter,
    private readonly accepted: AcceptedTurns,
    private readonly messages: MessageStore,
    private readonly running: RunningTurns,
    private readonly leases: TurnLeases,
    private readonly results: TurnResults,
    private readonly lost: LostTurns,
    private readonly settings: Settings,
    private readonly fetcher: AttachmentFetcher,
    private readonly optionsCheck: MessageOptionsCheck,
  ) {}

  /**
   * Stores the message and runs its turn, which continues when the caller goes away; resolves when the turn begins.
   * Throws `SessionEnded`, `TurnInProgress`, `TurnLimitReached`, `BadAttachment`.
   */
  async start(sessionId: string, sent: SentMessage, caller: Caller): Promise<StartedTurn> {
    const message = await this.whole(sessionId, sent, caller);
    const begun = await this.queue.enter(sessionId, message, caller, this.settings.current);
    return this.starter.start(begun, message, caller);
  }

  /**
   * The same for callers who do not wait: resolves as soon as the message is stored. If the session is busy, the
   * turn runs later, on any replica.
   */
  async accept(sessionId: string, sent: SentMessage, caller: Caller): Promise<AcceptedMessage> {
    const message = await this.whole(sessionId, sent, caller);
    const position = await this.queue.enterOrStay(sessionId, message, caller, this.settings.current);
    if ('begun' in position) return this.starter.start(position.begun, message, caller);
    this.accepted.expect();
    return position.waiting;
  }

  /** The message with its attachments given by URL. Nothing is fetched for a session that cannot take the message. */
  private async whole(sessionId: string, sent: SentMessage, caller: Caller): Promise<NewUserMessage> {
    const { held, ...message } = sent;
    const { options } = message;
    const isRemote = sent.attachments.some((one) => 'url' in one);
    if (options !== undefined || isRemote || isNarrow(caller) || !isId('sess', sessionId)) {
      const session = await this.sessions.find(sessionId, caller);
      if (options !== undefined)
        await this.optionsCheck.refuseUnsupported(
          session,
          options,
          toolContext({ ...session, sessionId }, caller),
        );
      if (isRemote && session.status === 'terminated') throw new SessionEnded();
    }
    const given = sent.attachments;
    const attachments = given.length === 0 ? [] : await this.fetcher.complete(given, held);
    return { ...message, attachments };
  }

  /** Ends the session's turn within a second, on any replica; what it has said is kept. False when none runs. */
  async cancel(sessionId: string, caller: Caller): Promise<boolean> {
    await this.sessions.find(sessionId, caller);
    if (this.running.abort(sessionId, new TurnStopped())) return true;
    if (!(await this.leases.cancel(sessionId))) return false;
    // It may be parked, waiting for a person, on no replica.
    this.lost.wake();
    return true;
  }

  /**
   * The same for one turn, also one that waits in line; nothing else in its session is affected. False when it is over.
   */
  async cancelTurn(sessionId: string, turnId: string, caller: Caller): Promise<boolean> {
    await this.sessions.find(sessionId, caller);
    if (await this.results.cancelWaiting(turnId)) return true;
    const running = await this.leases.cancelTurn(turnId);
    if (running === undefined) return false;
    this.running.abortTurn(sessionId, running.fence, new TurnStopped());
    this.lost.wake();
    return true;
  }

  /** Throws `UnknownMessage` when `before` names no message of this session. */
  async history(sessionId: string, query: HistoryQuery, caller: Caller): Promise<HistoryPage> {
    await this.sessions.find(sessionId, caller);
    if (query.before === undefined) return this.messages.newest(sessionId, query.limit);
    const position = isId('msg', query.before)
      ? await this.messages.positionOf(sessionId, query.before)
      : undefined;
    if (position === undefined) throw new UnknownMessage();
    return this.messages.before(sessionId, position, query.limit);
  }
}

/** Whether there are sessions that this caller may not write to. */
function isNarrow({ boundUserId, agents }: Caller): boolean {
  return boundUserId !== null || agents !== undefined;
}
