import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { KeyInUse } from '../../../http/idempotency/idempotency.errors.js';
import { markReplayed } from '../../../http/idempotency/replayed-response.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { CallerDirectory } from '../../../platform/identity/caller-directory.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { bearerOf } from '../../../platform/tokens/token-format.js';
import { AwaitedAnswers, TurnRecords, Viewers } from '../../live/live.api.js';
import { type LiveTurn, TurnAwaitsApproval, TurnUnanswered } from '../../turns/turns.api.js';
import { type ContinuedSession, ContinuedSessions } from '../chat/continued-sessions.service.js';
import { InvalidParameter } from '../openai.errors.js';
import { type ChatRequest, chatRequest } from '../requests/chat-request.js';
import { chatCall } from './conversation.calls.js';
import { type AnswerForm, type ConversationCall, ConversationHandler } from './conversation.handler.js';
import { EventViewer } from './event-viewer.js';

const HEADER = 'X-Session-Id';

/** A completion and its answer. */
interface Exchange {
  readonly call: ConversationCall;
  readonly caller: Caller;
  readonly request: GatewayRequest;
  readonly response: Response;
}

/** Answers POST /v1/chat/completions: without a session, or as a turn of one. */
@Injectable()
export class ChatHandler {
  constructor(
    private readonly unstored: ConversationHandler,
    private readonly continued: ContinuedSessions,
    private readonly awaited: AwaitedAnswers,
    private readonly records: TurnRecords,
    private readonly viewers: Viewers,
    private readonly tokens: CallerDirectory,
  ) {}

  async create(
    body: unknown,
    caller: Caller,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    const asked = chatRequest(body);
    const call = chatCall(asked);
    const session = sessionOf(asked, request.get(HEADER));
    if (session === undefined) return this.unstored.answer(call, caller, key, request, response);
    // Kept, it would hold the base64 of pictures until the answer.
    request.body = undefined;
    const exchange = { call, caller, request, response };
    if (key?.turnId !== undefined) return this.repeat(key.turnId, exchange);
    if (asked.isStream) this.viewers.refuseTooMany(caller);
    const started = await this.continued.start(asked, session, caller, key?.storingTurn());
    const form = call.form(started.live.turnId);
    if (asked.isStream) {
      this.stream(started.live, form, exchange);
      return;
    }
    const answer = await this.awaited.of(started, () => response.closed);
    if (answer === undefined) throw new TurnAwaitsApproval([]);
    response.status(200).json(form.whole(answer));
  }

  /** Replays the outcome of a request that was sent before; runs nothing. */
  private async repeat(turnId: string, exchange: Exchange): Promise<void> {
    const { call, caller, request, response } = exchange;
    const record = await this.records.find(turnId);
    if (record?.status !== 'over') throw new KeyInUse();
    const form = call.form(turnId);
    if (call.asked.isStream) this.viewers.refuseTooMany(caller);
    else if (record.error !== undefined) throw record.error;
    markReplayed(request, response);
    if (call.asked.isStream) this.stream(this.records.live(turnId, record), form, exchange);
    else if (record.answer === undefined) throw new TurnUnanswered();
    else response.status(200).json(form.whole(record.answer));
  }

  private stream(live: LiveTurn, form: AnswerForm, { caller, request, response }: Exchange): void {
    const viewer = new EventViewer(response, form.events());
    const token = bearerOf(request.headers.authorization);
    this.viewers.add(viewer, caller, () => this.tokens.mayGoOn(token));
    viewer.follow(live);
    if (response.closed) viewer.end();
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
