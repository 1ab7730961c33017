import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { GatewayError, InternalError } from '../../../common/errors/gateway-error.js';
import { withHeldBody } from '../../../http/body/with-held-body.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import type { Message, UnstoredTurn } from '../../turns/turns.api.js';
import { type AskedConversation, ChatCompletions } from '../chat/chat-completions.service.js';
import type { EventEncoder } from '../chat/chat-events.js';
import { EventViewers } from './event-viewers.service.js';

const EVENTS = { 'Content-Type': 'text/event-stream; charset=utf-8' };

/** The form of an answer: whole, and as events. */
export interface AnswerForm {
  readonly whole: (answer: Message) => object;
  /** A new one for each stream. */
  readonly events: () => EventEncoder;
}

/** A request that brings its whole conversation. */
export interface ConversationCall {
  readonly asked: AskedConversation & { readonly isStream: boolean };
  /** The parameter with the conversation. */
  readonly param: string;
  /** Gets the id of the turn. */
  readonly form: (turnId: string) => AnswerForm;
}

/** Answers conversations of which only the usage is stored: whole or as a stream, and once for an Idempotency-Key. */
@Injectable()
export class ConversationHandler {
  constructor(
    private readonly completions: ChatCompletions,
    private readonly viewers: EventViewers,
  ) {}

  async answer(
    { asked, param, form: formOf }: ConversationCall,
    caller: Caller,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    if (asked.isStream) this.viewers.refuseTooMany(caller);
    const turn = await withHeldBody(
      request,
      (held) => this.begun({ asked: { ...asked, held }, param }, caller, key),
      ({ answer }) => answer,
    );
    try {
      const form = formOf(turn.id);
      const kept = key === undefined ? undefined : keep(turn, asked.isStream, form, key);
      if (kept === undefined) abandonWhenGone(turn, response);
      if (asked.isStream) {
        this.viewers.open(form.events(), { caller, request, response }).follow(turn.live);
        return;
      }
      await kept;
      response.status(200).json(form.whole(await turn.answer));
    } catch (error) {
      await settleUnless(key, error);
      throw error;
    }
  }

  private async begun(
    { asked, param }: { readonly asked: AskedConversation; readonly param: string },
    caller: Caller,
    key: RequestKey | undefined,
  ): Promise<UnstoredTurn> {
    await key?.claim();
    try {
      return await this.completions.start(asked, caller, param);
    } catch (error) {
      await settleUnless(key, error);
      throw error;
    }
  }
}

/**
 * Ends the turn when its caller is gone. Once it is over nothing of it is kept, however slowly its answer is read: what
 * was asked takes memory that nobody counts any more. A function of its own, as a closure keeps all that is around it.
 */
function abandonWhenGone(turn: UnstoredTurn, response: Response): void {
  const abandon = (): void => turn.abandon();
  if (response.closed) {
    abandon();
    return;
  }
  response.once('close', abandon);
  const forget = (): void => void response.off('close', abandon);
  turn.answer.then(forget, forget);
}

/** The failure is the outcome of the key, unless it has one. */
async function settleUnless(key: RequestKey | undefined, error: unknown): Promise<void> {
  if (key !== undefined && !key.isStored) await key.settle(asGatewayError(error));
}

/** The answer is stored for its key, whether or not its caller is still there. */
async function keep(turn: UnstoredTurn, isStream: boolean, form: AnswerForm, key: RequestKey): Promise<void> {
  try {
    const answer = await turn.answer;
    const body = isStream ? wholeStream(form.events(), answer) : form.whole(answer);
    await key.settle({ status: 200, headers: isStream ? EVENTS : {}, body: JSON.stringify(body) });
  } catch (error) {
    await key.settle(asGatewayError(error));
  }
}

/** The whole stream as it would have been, for a repeated request. */
function wholeStream(events: EventEncoder, message: Message): string {
  return events.opening() + events.frames({ type: 'done', message });
}

function asGatewayError(error: unknown): GatewayError {
  return error instanceof GatewayError
    ? error
    : new InternalError('The completion failed unexpectedly.', { cause: error });
}
