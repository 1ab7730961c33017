import { Injectable } from '@nestjs/common';
import { isRefusal } from '../../../common/errors/gateway-error.js';
import { isDuplicate } from '../../../platform/database/database-failure.js';
import type { OnCommit } from '../../../platform/database/sql.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { API_CHANNEL, MessagesService, SessionsService } from '../../sessions/sessions.api.js';
import {
  AttachmentFetcher,
  EarlierMessages,
  MessageOptionsCheck,
  type SentMessage,
  SessionEnded,
  type StartedTurn,
  storeOutputs,
  toolContext,
  UnstoredTurns,
} from '../../turns/turns.api.js';
import { InvalidParameter, ResponseNotFound } from '../openai.errors.js';
import type { ResponsesRequest } from '../requests/responses-request.js';
import { refuseTooLong } from '../requests/shared-parameters.js';
import { callItems, type ResponseState } from '../responses/response-view.js';
import { type NamedAgent, ServedModels } from '../served-models.service.js';
import { ItemReferences } from './item-references.js';
import {
  furtherInput,
  openAmong,
  refuseOtherCalls,
  refuseOtherParties,
  type SaidNow,
  wholeInput,
} from './new-input.js';
import { StoredResponseStore } from './stored-response.store.js';
import { StoredResponses } from './stored-responses.service.js';

/** One that begins. */
export interface BegunResponse {
  readonly turnId: string;
  /** In Unix seconds. */
  readonly createdAt: number;
  /** Absent when its caller does not wait. */
  readonly started?: StartedTurn;
  /** Settles when its turn is over, if that began here at once. */
  readonly answer?: Promise<unknown> | undefined;
}

/** The session of a response, and what is said there. */
interface Place {
  readonly sessionId: string;
  readonly message: SentMessage;
  readonly onCommit: OnCommit<string>;
  /** The turn of the response that is continued. */
  readonly after?: string;
  /** Removes what was stored for a turn that does not begin. */
  readonly undo: () => Promise<void>;
}

/** Begins responses that are stored: the first of a conversation, and those that continue one. */
@Injectable()
export class ResponseStarter {
  constructor(
    private readonly store: StoredResponseStore,
    private readonly responses: StoredResponses,
    private readonly references: ItemReferences,
    private readonly models: ServedModels,
    private readonly sessions: SessionsService,
    private readonly messages: MessagesService,
    private readonly earlier: EarlierMessages,
    private readonly fetcher: AttachmentFetcher,
    private readonly limits: UnstoredTurns,
    private readonly options: MessageOptionsCheck,
  ) {}

  /**
   * Begins the turn of a response; in the background it may begin later, on any replica. Throws `ModelNotFound`,
   * `ResponseNotFound`, `InvalidParameter`, and what sending a message throws: then there is no response.
   */
  async begin(
    asked: ResponsesRequest,
    caller: Caller,
    onCommit: OnCommit<string> | undefined,
  ): Promise<BegunResponse> {
    const place = await (asked.previousResponseId === undefined
      ? this.newConversation(asked, caller)
      : this.further(asked, asked.previousResponseId, caller));
    const createdAt = Math.floor(Date.now() / 1000);
    let turnId = '';
    const done = { isStored: false };
    const message: SentMessage = {
      ...place.message,
      held: asked.held,
      onCommit: async (runner, id) => {
        turnId = id;
        await place.onCommit(runner, id);
        await this.store.add(runner, id, asked.echo, createdAt);
        await onCommit?.(runner, id);
        done.isStored = true;
      },
    };
    try {
      if (!asked.isBackground) {
        const started = await this.messages.start(place.sessionId, message, caller);
        return { turnId: started.live.turnId, createdAt, started, answer: started.answer };
      }
      const { answer } = await this.messages.accept(place.sessionId, message, caller);
      return { turnId, createdAt, answer };
    } catch (error) {
      // After a failure of the database nobody knows whether the turn was stored. What another request stored stays.
      if (isRefusal(error) && (done.isStored || asked.previousResponseId === undefined))
        await place.undo().catch(() => undefined);
      throw await this.reasonOf(error, place);
    }
  }

  /**
   * Two requests may have brought the outputs that the session waits for; and the session ends with the last response
   * that is deleted.
   */
  private async reasonOf(error: unknown, { after }: Place): Promise<unknown> {
    if (isDuplicate(error)) return continued();
    const isGone =
      error instanceof SessionEnded && after !== undefined && (await this.store.find(after)) === undefined;
    return isGone ? new ResponseNotFound('previous_response_id') : error;
  }

  private async newConversation(asked: ResponsesRequest, caller: Caller): Promise<Place> {
    const userId = this.sessions.userOf(asked.user, caller);
    const { agent, model } = this.modelOf(asked, caller, userId);
    // Before its history is stored: a caller that may not begin stores nothing.
    await this.limits.refuseSpent({ agent, userId, caller });
    const said = await this.references.resolve(asked, caller);
    const { earlier, now } = await wholeInput(said, (given) => this.fetcher.complete(given, asked.held));
    const session = { sessionId: '', channel: API_CHANNEL, agent: agent.name, userId, model };
    await this.options.refuseUnsupported(session, asked.options, toolContext(session, caller));
    const input = { userId: asked.user, agent: agent.name, model: model ?? undefined };
    const onCommit = earlier.length === 0 ? undefined : this.earlier.storing(earlier, caller);
    const { id } = await this.sessions.create(input, caller, onCommit);
    const message = messageOf(asked, now);
    const undo = async (): Promise<void> => {
      await this.sessions.end(id, caller);
      await this.store.forgetEarlier(id);
    };
    return { sessionId: id, message, onCommit: () => Promise.resolve(), undo };
  }

  private async further(asked: ResponsesRequest, previousId: string, caller: Caller): Promise<Place> {
    const previous = await this.responses.find(previousId, caller, 'previous_response_id');
    const session = await this.sessions.find(previous.record.sessionId, caller);
    const { agent, model } = this.modelOf(asked, caller, session.userId);
    refuseOtherParties(session, { agent: agent.name, model, user: asked.user }, 'previous response');
    const input = furtherInput(asked.messages);
    const { outputs, now } = input;
    const calls = callIds(previous.state);
    refuseOtherCalls({ asked: calls, open: calls }, input);
    const { id: sessionId, awaitsMessageId } = session;
    return {
      sessionId,
      message: messageOf(asked, now, awaitsMessageId ?? undefined),
      after: previous.turnId,
      onCommit: async (runner, turnId) => {
        const goingOn = { after: previous.turnId, turnId, isAwaited: awaitsMessageId !== null };
        if (!(await this.store.isThere(runner, previous.turnId)))
          throw new ResponseNotFound('previous_response_id');
        if (await this.store.isContinued(runner, sessionId, goingOn)) throw continued();
        await storeOutputs(runner, { sessionId, turnId: previous.turnId }, outputs);
      },
      undo: () =>
        this.store.takeBack(
          sessionId,
          previous.turnId,
          openAmong(previous.state.answer?.toolCalls ?? [], outputs),
        ),
    };
  }

  private modelOf(asked: ResponsesRequest, caller: Caller, userId: string): NamedAgent {
    const named = this.models.find(asked.model, caller, userId);
    refuseTooLong(named.agent.maxOutputTokens, asked.options.maxOutputTokens, asked.limitName);
    return named;
  }
}

function messageOf(
  { options }: ResponsesRequest,
  { content, attachments }: SaidNow,
  id?: string,
): SentMessage {
  const wanted = Object.keys(options).length > 0 ? options : undefined;
  return { id, content, attachments, options: wanted };
}

function callIds({ id, echo, answer }: ResponseState): string[] {
  return answer === undefined ? [] : callItems(id, echo, answer).map((item) => String(item['call_id']));
}

function continued(): InvalidParameter {
  return new InvalidParameter({
    path: 'previous_response_id',
    message:
      'names a response with which the conversation has gone on; only the newest one can be continued. Send the conversation as input for another one',
  });
}
