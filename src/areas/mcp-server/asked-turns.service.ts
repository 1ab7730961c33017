import { Injectable } from '@nestjs/common';
import { BadFields } from '../../common/errors/gateway-error.js';
import { newId } from '../../common/ids/typeid.js';
import type { RequestKey } from '../../http/idempotency/request-key.js';
import { storableText } from '../../platform/database/storable-text.js';
import type { Traffic } from '../../platform/runtime/event-stream.js';
import type { Caller } from '../../platform/tokens/caller.js';
import { ResumedTurns, TurnRecords, Viewers, WatchedTurn } from '../live/live.api.js';
import { MessagesService, SessionsService } from '../sessions/sessions.api.js';
import {
  type LiveEvent,
  MessageStore,
  SessionNotFound,
  TURN_START,
  type TurnPosition,
  TurnResults,
} from '../turns/turns.api.js';

/** The caller, and what came with the request. */
export interface Asker {
  readonly caller: Caller;
  /** Whether the token is still good. */
  readonly mayGoOn: () => Promise<boolean>;
  readonly key: RequestKey | undefined;
  /** Its connection, so that it is cut when it takes nothing; left out where sending the response sees to that. */
  readonly connection?: () => Traffic;
}

export interface Question {
  readonly agent: string;
  readonly message: string;
  readonly sessionId: string | undefined;
  /** The id of the message, so that any replica finds its turn again. */
  readonly messageId: string;
}

/** A turn that was begun or found, and how to show it. */
export interface AskedTurn {
  readonly sessionId: string;
  readonly watched: WatchedTurn;
}

type Listener = (event: LiveEvent, position: TurnPosition) => void;

/** Sends questions to agents as messages of sessions, and finds their turns again, whichever replica runs them. */
@Injectable()
export class AskedTurns {
  constructor(
    private readonly sessions: SessionsService,
    private readonly messages: MessagesService,
    private readonly stored: MessageStore,
    private readonly results: TurnResults,
    private readonly records: TurnRecords,
    private readonly resumed: ResumedTurns,
    private readonly viewers: Viewers,
  ) {}

  /** Begins the turn, unless this same question was asked before. Throws what sending a message throws. */
  async ask(question: Question, asker: Asker, listener: Listener): Promise<AskedTurn> {
    const known = await this.turnOf(question.messageId);
    const isSame = known !== undefined && (await this.isSame(question));
    const earlier = asker.key?.turnId ?? (isSame ? known : undefined);
    if (earlier !== undefined) return this.follow(earlier, asker, listener);
    const { caller, key } = asker;
    this.viewers.refuseTooMany(caller);
    const sessionId = await this.sessionOf(question, caller);
    const content = question.message;
    // A client that restarts its request numbers in a session that it kept asks something new under a used number.
    const id = known === undefined ? question.messageId : newId('msg');
    const message = { id, content, attachments: [], onCommit: key?.storingTurn() };
    const { live } = await this.messages.start(sessionId, message, caller);
    const watched = this.watch(asker, listener);
    watched.follow(live);
    return { sessionId, watched };
  }

  /**
   * Shows a turn from its beginning. Throws `SessionNotFound` for a deleted turn, or one of a session that the caller
   * may not see.
   */
  async follow(turnId: string, asker: Asker, listener: Listener): Promise<AskedTurn> {
    const record = await this.records.find(turnId);
    if (record === undefined) throw new SessionNotFound();
    const { sessionId } = record;
    await this.sessions.find(sessionId, asker.caller);
    this.viewers.refuseTooMany(asker.caller);
    const watched = this.watch(asker, listener);
    this.resumed
      .show(watched, { turnId, ...TURN_START }, record)
      .catch((error: unknown) => watched.fail(error instanceof Error ? error : new SessionNotFound()));
    return { sessionId, watched };
  }

  /** The turn of a message that was asked under this id. */
  async turnOf(messageId: string): Promise<string | undefined> {
    return (await this.results.of(messageId))?.turnId;
  }

  /** Ends the turn of this message, wherever it runs or waits. */
  async cancel(messageId: string, caller: Caller): Promise<void> {
    const turn = await this.results.of(messageId);
    if (turn?.status === 'waiting') await this.results.forgetWaiting(turn);
    if (turn?.status === 'running' || turn?.status === 'awaiting_approval')
      await this.messages.cancel(turn.sessionId, caller);
  }

  private async isSame({ messageId, message }: Question): Promise<boolean> {
    return (await this.stored.sent(messageId))?.content === storableText(message);
  }

  private async sessionOf({ agent, sessionId }: Question, caller: Caller): Promise<string> {
    if (sessionId === undefined) return (await this.sessions.create({ agent }, caller)).id;
    const session = await this.sessions.find(sessionId, caller);
    if (session.agent === agent) return session.id;
    const message = `is a session of the agent "${session.agent}": ask that one, or leave it out for a new session`;
    throw new BadFields([{ path: 'session_id', message }]);
  }

  private watch({ caller, mayGoOn, connection }: Asker, listener: Listener): WatchedTurn {
    const watched = new WatchedTurn(listener, connection);
    this.viewers.add(watched, caller, mayGoOn);
    return watched;
  }
}
