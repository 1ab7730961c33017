import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { InternalError } from '../../../common/errors/gateway-error.js';
import { withHeldBody } from '../../../http/body/with-held-body.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { KeyInUse } from '../../../http/idempotency/idempotency.errors.js';
import { markReplayed } from '../../../http/idempotency/replayed-response.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { API_PREFIX, type ProfileId } from '../../../http/profiles/profile.js';
import { CallerDirectory } from '../../../platform/identity/caller-directory.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { bearerOf } from '../../../platform/tokens/token-format.js';
import type { TokenHolder } from '../../../platform/tokens/token-shares.js';
import {
  AwaitedAnswers,
  BadLastEventId,
  parseEventId,
  ResumedTurns,
  type SeenEvent,
  SessionViews,
  type TurnRecord,
  TurnRecords,
  Viewers,
} from '../../live/live.api.js';
import { type Message, type StartedTurn, TURN_START } from '../../turns/turns.api.js';
import { MessagesService } from '../messages.service.js';
import { SessionsService } from '../sessions.service.js';
import { type ListMessagesQuery, newUserMessage, type SendMessageRequest } from './message.requests.js';
import { type AcceptedView, presentHistory, presentMessage } from './message.views.js';
import { SseViewer } from './sse-viewer.js';

/**
 * The two message operations, which are the same on the wire of both profiles (docs/specification/silences.md,
 * Profiles).
 */
@Injectable()
export class MessagesHandlers {
  constructor(
    private readonly messages: MessagesService,
    private readonly sessions: SessionsService,
    private readonly views: SessionViews,
    private readonly resumed: ResumedTurns,
    private readonly records: TurnRecords,
    private readonly viewers: Viewers,
    private readonly awaited: AwaitedAnswers,
    private readonly tokens: CallerDirectory,
  ) {}

  /** Responds with the answer, with the events of its turn as they happen, or at once with where to find the answer later. */
  async send(
    sessionId: string,
    body: SendMessageRequest,
    caller: Caller,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    // Validation has copied the content; the request would keep the base64 of attachments in memory until the answer.
    request.body = undefined;
    const seen = seenByPost(request);
    if (seen !== undefined) return this.resume(sessionId, seen, body, caller, key, request, response);
    if (key?.turnId !== undefined) return this.repeat(key.turnId, request, response);
    const message = { ...newUserMessage(body), onCommit: key?.storingTurn() };
    if (wantsNoWaiting(request.headers)) {
      const { userMessageId } = await withHeldBody(
        request,
        (held) => this.messages.accept(sessionId, { ...message, held }, caller),
        ({ answer }) => answer,
      );
      accept(response, sessionId, userMessageId);
      return;
    }
    const isStream = acceptsEvents(request.headers);
    if (isStream) this.viewers.refuseTooMany(holderOf(request));
    const started = await withHeldBody(
      request,
      (held) => this.messages.start(sessionId, { ...message, held }, caller),
      ({ answer }) => answer,
    );
    if (!isStream) return this.answer(response, started);
    const { live } = started;
    this.view(request, response, { turnId: live.turnId, ...TURN_START }).follow(live);
  }

  /** Responds with a page of the history, or with the events of every turn, from now or from the last event that was seen. */
  async history(
    sessionId: string,
    query: ListMessagesQuery,
    caller: Caller,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    if (!acceptsEvents(request.headers)) {
      response.status(200).json(presentHistory(await this.messages.history(sessionId, query, caller)));
      return;
    }
    await this.sessions.find(sessionId, caller);
    if (request.method === 'HEAD') {
      response.status(200).type('text/event-stream').end();
      return;
    }
    this.viewers.refuseTooMany(holderOf(request));
    const seen = parseEventId(request.get('last-event-id') ?? '');
    await this.views.open(sessionId, this.view(request, response), seen);
  }

  /**
   * Responds with the answer. When the turn waits for a person's decision, responds with where to find the answer
   * later.
   */
  private async answer(response: Response, started: StartedTurn): Promise<void> {
    const said = await this.awaited.of(started, () => response.closed);
    if (said !== undefined) response.status(200).json(presentMessage(said));
    else later(response, started.live.sessionId, started.userMessageId);
  }

  /** Replays the outcome of a message that was sent before, in the form asked for this time; runs nothing. */
  private async repeat(turnId: string, request: GatewayRequest, response: Response): Promise<void> {
    const record = await this.records.find(turnId);
    const isLater = wantsNoWaiting(request.headers);
    if (record === undefined || (record.status === 'waiting' && !record.isAccepted)) throw new KeyInUse();
    if (record.status !== 'over' && !isLater) throw new KeyInUse();
    const isStream = !isLater && acceptsEvents(request.headers);
    if (isStream) this.viewers.refuseTooMany(holderOf(request));
    markReplayed(request, response);
    if (isLater) accept(response, record.sessionId, record.userMessageId);
    else if (isStream)
      this.view(request, response, { turnId, ...TURN_START }).follow(this.records.live(turnId, record));
    else response.status(200).json(presentMessage(answerOf(record)));
  }

  /** Continues a stream that was cut where it stopped; runs nothing a second time. */
  private async resume(
    sessionId: string,
    seen: SeenEvent,
    body: SendMessageRequest,
    caller: Caller,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    await this.sessions.find(sessionId, caller);
    const record = await withHeldBody(request, () =>
      this.resumed.find(sessionId, seen, newUserMessage(body), key?.turnId),
    );
    if (!this.resumed.isSeen(seen)) this.viewers.refuseTooMany(holderOf(request));
    key?.replayed();
    if (key !== undefined) markReplayed(request, response);
    if (this.resumed.isSeen(seen)) response.status(200).type('text/event-stream').end();
    else await this.resumed.show(this.view(request, response, seen), seen, record);
  }

  /** @param from where the viewer begins, if it follows one turn only; otherwise it follows every turn */
  private view(request: GatewayRequest, response: Response, from?: SeenEvent): SseViewer {
    const viewer = new SseViewer(response, request.profile as ProfileId, from);
    const token = bearerOf(request.headers.authorization);
    this.viewers.add(viewer, holderOf(request), () => this.tokens.mayGoOn(token));
    if (response.closed) viewer.end();
    return viewer;
  }
}

/** Throws `BadLastEventId`. The header counts only when events are asked for; an empty one is ignored. */
function seenByPost(request: GatewayRequest): SeenEvent | undefined {
  const text = request.get('last-event-id') ?? '';
  if (text === '' || wantsNoWaiting(request.headers) || !acceptsEvents(request.headers)) return undefined;
  const seen = parseEventId(text);
  if (seen === undefined) throw new BadLastEventId();
  return seen;
}

/** The token whose share of viewers this request uses; the guard has checked it. */
function holderOf({ caller }: GatewayRequest): TokenHolder {
  return caller ?? { tokenId: '', tokenName: '' };
}

function accept(response: Response, sessionId: string, userMessageId: string): void {
  response.setHeader('Preference-Applied', 'respond-async');
  later(response, sessionId, userMessageId);
}

function later(response: Response, sessionId: string, userMessageId: string): void {
  response.location(`/${API_PREFIX}/sessions/${sessionId}/messages`);
  response.status(202).json({ message_id: userMessageId } satisfies AcceptedView);
}

function answerOf({ answer: said, error }: TurnRecord): Message {
  if (error !== undefined) throw error;
  if (said === undefined) throw new InternalError('A turn that was completed has no answer.');
  return said;
}

/** Whether the caller asks for events instead of one answer, by naming the media type; a wildcard does not count. */
function acceptsEvents({ accept }: IncomingHttpHeaders): boolean {
  if (accept === undefined) return false;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/event-stream' && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}

/** Whether the caller would rather fetch the answer later than wait for it (RFC 7240, 4.1). */
function wantsNoWaiting(headers: IncomingHttpHeaders): boolean {
  const { prefer } = headers;
  const preferences = (Array.isArray(prefer) ? prefer.join(',') : (prefer ?? '')).split(',');
  return preferences.some((preference) => preference.split(';')[0]?.trim().toLowerCase() === 'respond-async');
}
