import { Injectable } from '@nestjs/common';
import { GatewayError, isRefusal } from '../../../common/errors/gateway-error.js';
import { isDuplicate } from '../../../platform/database/database-failure.js';
import type { OnCommit } from '../../../platform/database/sql.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { MessagesService, type Session, SessionsService } from '../../sessions/sessions.api.js';
import { type StartedTurn, storeOutputs } from '../../turns/turns.api.js';
import { InvalidParameter, SessionToContinueNotFound } from '../openai.errors.js';
import type { ChatRequest } from '../requests/chat-request.js';
import { refuseTooLong } from '../requests/shared-parameters.js';
import { ServedModels } from '../served-models.service.js';
import {
  type FurtherInput,
  furtherInput,
  openAmong,
  refuseOtherCalls,
  refuseOtherParties,
} from '../stored/new-input.js';
import { StoredResponseStore } from '../stored/stored-response.store.js';

const PARAM = 'messages';

/** The session that a completion continues. */
export interface ContinuedSession {
  readonly id: string;
  /** Where the request names it. */
  readonly path: string;
}

/** What is stored with a turn, and removed when it does not begin. */
interface GivenOutputs {
  readonly onCommit: OnCommit<string>;
  readonly undo: () => Promise<void>;
}

/**
 * Completions that continue a session: the session has the history, and only the messages after the last answer are
 * new.
 */
@Injectable()
export class ContinuedSessions {
  constructor(
    private readonly models: ServedModels,
    private readonly sessions: SessionsService,
    private readonly messages: MessagesService,
    private readonly store: StoredResponseStore,
  ) {}

  /** Throws `SessionToContinueNotFound`, `ModelNotFound`, `InvalidParameter`, and what sending a message throws. */
  async start(
    asked: ChatRequest,
    named: ContinuedSession,
    caller: Caller,
    onCommit: OnCommit<string> | undefined,
  ): Promise<StartedTurn> {
    const session = await this.find(named, caller);
    const { agent, model } = this.models.find(asked.model, caller, session.userId);
    refuseTooLong(agent.maxOutputTokens, asked.options.maxOutputTokens, asked.limitName);
    refuseOtherParties(session, { agent: agent.name, model, user: asked.user }, 'session');
    const input = furtherInput(saidNow(asked), PARAM);
    const given = input.outputs.length === 0 ? undefined : await this.given(session, input);
    const { content, attachments } = input.now;
    const options = Object.keys(asked.options).length > 0 ? asked.options : undefined;
    const id = given === undefined ? undefined : (session.awaitsMessageId ?? undefined);
    const done = { isStored: false };
    const committing: OnCommit<string> = async (runner, turnId) => {
      await given?.onCommit(runner, turnId);
      await onCommit?.(runner, turnId);
      done.isStored = true;
    };
    const message = { id, content, attachments, options, onCommit: committing, held: asked.held };
    try {
      return await this.messages.start(session.id, message, caller);
    } catch (error) {
      // What another request stored stays.
      if (isRefusal(error) && done.isStored) await given?.undo().catch(() => undefined);
      // Two requests brought the outputs that the session waits for.
      throw isDuplicate(error) ? goneOn() : error;
    }
  }

  private async find({ id, path }: ContinuedSession, caller: Caller): Promise<Session> {
    try {
      return await this.sessions.find(id, caller);
    } catch (error) {
      if (error instanceof GatewayError && (error.status === 403 || error.status === 404))
        throw new SessionToContinueNotFound(path);
      throw error;
    }
  }

  /** The outputs are stored with the turn that called the tools, unless the session has continued meanwhile. */
  private async given(session: Session, input: FurtherInput): Promise<GivenOutputs> {
    const { id: sessionId, awaitsMessageId } = session;
    const last = await this.store.lastAnswer(sessionId);
    const calls = last?.calls ?? [];
    const open = calls.filter(({ status }) => status === 'pending');
    refuseOtherCalls({ asked: calls.map(({ id }) => id), open: open.map(({ id }) => id) }, input, PARAM);
    const after = last?.turnId ?? '';
    const { outputs } = input;
    return {
      onCommit: async (runner, turnId) => {
        const goingOn = { after, turnId, isAwaited: awaitsMessageId !== null };
        if (await this.store.isContinued(runner, sessionId, goingOn)) throw goneOn();
        await storeOutputs(runner, { sessionId, turnId: after }, outputs);
      },
      undo: () => this.store.takeBack(sessionId, after, openAmong(calls, outputs)),
    };
  }
}

/** The new messages: the session already has everything up to the last answer. */
function saidNow({ messages }: ChatRequest): ChatRequest['messages'] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

function goneOn(): InvalidParameter {
  const message = 'has outputs of calls after which the session has gone on';
  return new InvalidParameter({ path: PARAM, message });
}
