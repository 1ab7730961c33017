import { Injectable } from '@nestjs/common';
import { ChannelActivity } from '../channels/channel-activity.js';
import { Settings } from '../config/settings.js';
import { isId } from '../ids/typeid.js';
import type { Caller } from '../tokens/caller.js';
import type { HistoryPage, Message, NewUserMessage } from './message.js';
import { MessageStore } from './message.store.js';
import { RunningTurns } from './running-turns.js';
import { TurnStopped, UnknownMessage } from './sessions.errors.js';
import { SessionsService } from './sessions.service.js';
import { TurnStore } from './turn.store.js';
import { TurnLine } from './turn-line.service.js';
import { type StartedTurn, TurnsService } from './turns.service.js';

export interface HistoryWish {
  readonly limit: number;
  /** A message id; the page ends before it. */
  readonly before?: string | undefined;
}

/** What people say in a session, and what the agent answers (decisions, section 4). */
@Injectable()
export class MessagesService {
  constructor(
    private readonly sessions: SessionsService,
    private readonly line: TurnLine,
    private readonly turns: TurnsService,
    private readonly messages: MessageStore,
    private readonly running: RunningTurns,
    private readonly turnStore: TurnStore,
    private readonly settings: Settings,
    private readonly activity: ChannelActivity,
  ) {}

  /**
   * Stores the message, runs its turn and returns the answer. The turn goes on when the caller goes away. Throws
   * `SessionEnded`, `TurnInProgress`, and what a turn throws.
   */
  async send(sessionId: string, message: NewUserMessage, caller: Caller): Promise<Message> {
    return (await this.start(sessionId, message, caller)).answer;
  }

  /** The same for who follows the turn: returns when it begins. Throws `SessionEnded` and `TurnInProgress`. */
  async start(sessionId: string, message: NewUserMessage, caller: Caller): Promise<StartedTurn> {
    if (caller.boundUserId !== null || !isId('sess', sessionId)) await this.sessions.find(sessionId, caller);
    const begun = await this.line.enter(sessionId, message, this.settings.current.agent);
    this.activity.note(begun.channel);
    return this.turns.start(begun, message);
  }

  /** Ends the session's turn, wherever it runs, within a second; what it has said is kept. False when none runs. */
  async cancel(sessionId: string, caller: Caller): Promise<boolean> {
    await this.sessions.find(sessionId, caller);
    if (this.running.abort(sessionId, new TurnStopped())) return true;
    return this.turnStore.cancel(sessionId);
  }

  /** Throws `UnknownMessage` when `before` is none of this session's. */
  async history(sessionId: string, wish: HistoryWish, caller: Caller): Promise<HistoryPage> {
    await this.sessions.find(sessionId, caller);
    if (wish.before === undefined) return this.messages.newest(sessionId, wish.limit);
    const place = isId('msg', wish.before) ? await this.messages.placeOf(sessionId, wish.before) : undefined;
    if (place === undefined) throw new UnknownMessage();
    return this.messages.before(sessionId, place, wish.limit);
  }
}
