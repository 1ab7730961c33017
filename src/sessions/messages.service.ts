import { Injectable } from '@nestjs/common';
import type { TurnListener } from '../agent/turn.js';
import { ChannelActivity } from '../channels/channel-activity.js';
import { Settings } from '../config/settings.js';
import { isId } from '../ids/typeid.js';
import type { Caller } from '../tokens/caller.js';
import type { HistoryPage, Message, NewUserMessage } from './message.js';
import { MessageStore } from './message.store.js';
import { UnknownMessage } from './sessions.errors.js';
import { SessionsService } from './sessions.service.js';
import { TurnLine } from './turn-line.service.js';
import { TurnsService } from './turns.service.js';

export interface HistoryWish {
  readonly limit: number;
  /** A message id; the page ends before it. */
  readonly before?: string | undefined;
}

const nobodyWatches: TurnListener = () => undefined;

/** What people say in a session, and what the agent answers (decisions, section 4). */
@Injectable()
export class MessagesService {
  constructor(
    private readonly sessions: SessionsService,
    private readonly line: TurnLine,
    private readonly turns: TurnsService,
    private readonly messages: MessageStore,
    private readonly settings: Settings,
    private readonly activity: ChannelActivity,
  ) {}

  /**
   * Stores the message, runs its turn and returns the answer. The turn goes on when the caller goes away. Throws
   * `SessionEnded`, `TurnInProgress`, and what a turn throws.
   */
  async send(sessionId: string, message: NewUserMessage, caller: Caller): Promise<Message> {
    if (caller.boundUserId !== null || !isId('sess', sessionId)) await this.sessions.find(sessionId, caller);
    const begun = await this.line.enter(sessionId, message, this.settings.current.agent);
    this.activity.note(begun.channel);
    return this.turns.run(begun, message, nobodyWatches);
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
