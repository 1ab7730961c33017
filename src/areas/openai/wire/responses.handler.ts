import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { emptyBody, withHeldBody } from '../../../http/body/with-held-body.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { KeyInUse } from '../../../http/idempotency/idempotency.errors.js';
import { markReplayed } from '../../../http/idempotency/replayed-response.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { AwaitedAnswers, ResumedTurns, TurnRecords } from '../../live/live.api.js';
import type { StartedTurn } from '../../turns/turns.api.js';
import { ResponseNotFound, UnsupportedParameter } from '../openai.errors.js';
import { readRetrieveQuery } from '../requests/response-queries.js';
import { type ResponsesRequest, responsesRequest } from '../requests/responses-request.js';
import { placeAfter, positionAt, ResponseEvents, type StreamPlace } from '../responses/response-events.js';
import { type ResponseState, responseIdOf, responseView } from '../responses/response-view.js';
import { type BegunResponse, ResponseStarter } from '../stored/response-starter.service.js';
import { type StoredResponse, StoredResponses } from '../stored/stored-responses.service.js';
import { responseCall } from './conversation.calls.js';
import { ConversationHandler } from './conversation.handler.js';
import type { EventViewer } from './event-viewer.js';
import { EventViewers, type Exchange } from './event-viewers.service.js';

export interface DeletedResponseView {
  readonly id: string;
  readonly object: 'response';
  readonly deleted: true;
}

/** Handles the routes of responses: whole or as events, at once or in the background. */
@Injectable()
export class ResponsesHandler {
  constructor(
    private readonly unstored: ConversationHandler,
    private readonly starter: ResponseStarter,
    private readonly responses: StoredResponses,
    private readonly awaited: AwaitedAnswers,
    private readonly records: TurnRecords,
    private readonly resumed: ResumedTurns,
    private readonly viewers: EventViewers,
  ) {}

  async create(
    body: unknown,
    caller: Caller,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    const asked = responsesRequest(body);
    emptyBody(request);
    if (request.headers['x-session-id'] !== undefined)
      throw new UnsupportedParameter(
        'X-Session-Id',
        'responses go on with previous_response_id; leave it out',
      );
    if (!asked.isStored) return this.unstored.answer(responseCall(asked), caller, key, request, response);
    const exchange = { caller, request, response };
    if (key?.turnId !== undefined) return this.repeat(key.turnId, asked, exchange);
    if (asked.isStream) this.viewers.refuseTooMany(caller);
    const begun = await withHeldBody(
      request,
      (held) => this.starter.begin({ ...asked, held }, caller, key?.storingTurn()),
      ({ answer }) => answer,
    );
    const state = stateAtFirst(begun, asked);
    // Not awaited here: the input would stay in memory until the response has ended.
    if (asked.isStream) return this.streamBegun(begun, state, exchange);
    if (begun.started === undefined) return this.show(responseIdOf(begun.turnId), exchange);
    return this.answer(begun.started, state, response);
  }

  /** Responds with the response as it is, or with its events after the last one that was seen. */
  async retrieve(
    id: string,
    query: unknown,
    caller: Caller,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    const { isStream, after } = readRetrieveQuery(query);
    if (!isStream && after !== -1)
      throw new UnsupportedParameter('starting_after', 'is for streams; send stream=true with it');
    const found = await this.responses.find(id, caller);
    if (!isStream) {
      response.status(200).json(responseView(found.state));
      return;
    }
    this.viewers.refuseTooMany(caller);
    await this.streamStored(found, placeAfter(after), { caller, request, response });
  }

  async cancel(id: string, caller: Caller): Promise<object> {
    return responseView((await this.responses.cancel(id, caller)).state);
  }

  async forget(id: string, caller: Caller): Promise<DeletedResponseView> {
    await this.responses.forget(id, caller);
    return { id, object: 'response', deleted: true };
  }

  /** When its turn waits for a person, responds with its present state; it can be found again later. */
  private async answer(started: StartedTurn, state: ResponseState, response: Response): Promise<void> {
    const answer = await this.awaited.of(started, () => response.closed);
    response
      .status(200)
      .json(responseView(answer === undefined ? state : { ...state, status: 'over', answer }));
  }

  private async show(id: string, { caller, response }: Exchange): Promise<void> {
    response.status(200).json(responseView((await this.responses.find(id, caller)).state));
  }

  /** Replays the outcome of a request that was sent before; runs nothing. */
  private async repeat(turnId: string, asked: ResponsesRequest, exchange: Exchange): Promise<void> {
    const found = await this.responses.find(responseIdOf(turnId), exchange.caller);
    const { status, error } = found.record;
    if (!asked.isBackground && status !== 'over') throw new KeyInUse();
    if (asked.isStream) this.viewers.refuseTooMany(exchange.caller);
    else if (!asked.isBackground && error !== undefined) throw error;
    markReplayed(exchange.request, exchange.response);
    if (asked.isStream) await this.streamStored(found, placeAfter(-1), exchange);
    else exchange.response.status(200).json(responseView(found.state));
  }

  private async streamBegun(begun: BegunResponse, state: ResponseState, exchange: Exchange): Promise<void> {
    if (begun.started !== undefined) {
      this.view(state, placeAfter(-1), exchange).follow(begun.started.live);
      return;
    }
    const record = await this.records.find(begun.turnId);
    // It was cancelled or deleted in the meantime.
    if (record === undefined) throw new ResponseNotFound('id');
    await this.streamStored({ turnId: begun.turnId, state, record }, placeAfter(-1), exchange);
  }

  private async streamStored(
    { turnId, state, record }: StoredResponse,
    place: StreamPlace,
    exchange: Exchange,
  ): Promise<void> {
    const seen = { turnId, ...positionAt(place) };
    await this.resumed.show(this.view(state, place, exchange), seen, record);
  }

  private view({ id, createdAt, echo }: ResponseState, place: StreamPlace, exchange: Exchange): EventViewer {
    return this.viewers.open(new ResponseEvents({ id, createdAt, echo }, place), exchange);
  }
}

function stateAtFirst({ turnId, createdAt }: BegunResponse, { echo }: ResponsesRequest): ResponseState {
  return { id: responseIdOf(turnId), createdAt, echo, status: 'in_progress' };
}
