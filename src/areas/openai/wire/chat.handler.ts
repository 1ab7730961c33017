import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { emptyBody, withHeldBody } from '../../../http/body/with-held-body.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { KeyInUse } from '../../../http/idempotency/idempotency.errors.js';
import { markReplayed } from '../../../http/idempotency/replayed-response.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { AwaitedAnswers, TurnRecords } from '../../live/live.api.js';
import { TurnAwaitsApproval, TurnUnanswered } from '../../turns/turns.api.js';
import { type ContinuedSession, ContinuedSessions } from '../chat/continued-sessions.service.js';
import { InvalidParameter } from '../openai.errors.js';
import { type ChatRequest, chatRequest } from '../requests/chat-request.js';
import { chatCall } from './conversation.calls.js';
import { type ConversationCall, ConversationHandler } from './conversation.handler.js';
import { EventViewers, type Exchange } from './event-viewers.service.js';

const HEADER = 'X-Session-Id';

/** Answers POST /v1/chat/completions: without a session, or as a turn of one. */
@Injectable()
export class ChatHandler {
  constructor(
    private readonly unstored: ConversationHandler,
    private readonly continued: ContinuedSessions,
    private readonly awaited: AwaitedAnswers,
    private readonly records: TurnRecords,
    private readonly viewers: EventViewers,
  ) {}

  async create(
    body: unknown,
    caller: Caller,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    const asked = chatRequest(body);
    emptyBody(request);
    const call = chatCall(asked);
    const session = sessionOf(asked, request.get(HEADER));
    if (session === undefined) return this.unstored.answer(call, caller, key, request, response);
    const exchange = { caller, request, response };
    if (key?.turnId !== undefined) return this.repeat(key.turnId, call, exchange);
    if (asked.isStream) this.viewers.refuseTooMany(caller);
    const started = await withHeldBody(
      request,
      (held) => this.continued.start({ ...asked, held }, session, caller, key?.storingTurn()),
      ({ answer }) => answer,
    );
    const form = call.form(started.live.turnId);
    if (asked.isStream) {
      this.viewers.open(form.events(), exchange).follow(started.live);
      return;
    }
    const answer = await this.awaited.of(started, () => response.closed);
    if (answer === undefined) throw new TurnAwaitsApproval([]);
    response.status(200).json(form.whole(answer));
  }

  /** Replays the outcome of a request that was sent before; runs nothing. */
  private async repeat(turnId: string, call: ConversationCall, exchange: Exchange): Promise<void> {
    const { caller, request, response } = exchange;
    const record = await this.records.find(turnId);
    if (record?.status !== 'over') throw new KeyInUse();
    const form = call.form(turnId);
    if (call.asked.isStream) this.viewers.refuseTooMany(caller);
    else if (record.error !== undefined) throw record.error;
    markReplayed(request, response);
    if (call.asked.isStream)
      this.viewers.open(form.events(), exchange).follow(this.records.live(turnId, record));
    else if (record.answer === undefined) throw new TurnUnanswered();
    else response.status(200).json(form.whole(record.answer));
  }
}

/** Throws `InvalidParameter` when two are named. */
function sessionOf({ sessionId: id }: ChatRequest, header: string | undefined): ContinuedSession | undefined {
  const path = 'metadata.session_id';
  if (header === undefined || header === '') return id === undefined ? undefined : { id, path };
  if (id !== undefined && id !== header)
    throw new InvalidParameter({ path, message: `names another session than ${HEADER}` });
  return { id: header, path: HEADER };
}
