import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../../edge/gateway-request.js';
import { API_PREFIX, type ProfileId } from '../../profiles/profile.js';
import type { Caller } from '../../tokens/caller.js';
import { TokenDirectory } from '../../tokens/token-directory.js';
import { parseEventId } from '../live/event-id.js';
import { SessionViews } from '../live/session-views.service.js';
import { Viewers } from '../live/viewers.service.js';
import { MessagesService } from '../messages.service.js';
import { SessionsService } from '../sessions.service.js';
import { acceptsEvents, wantsNoWaiting } from './accepts.js';
import type { ListMessagesQuery, SendMessageRequest } from './message.requests.js';
import { type AcceptedView, presentHistory, presentMessage } from './message.views.js';
import { newUserMessage } from './new-user-message.js';
import { SseViewer } from './sse-viewer.js';

/** The two message operations, which are the same on the wire of both profiles (decisions, section 1). */
@Injectable()
export class MessagesHandlers {
  constructor(
    private readonly messages: MessagesService,
    private readonly sessions: SessionsService,
    private readonly views: SessionViews,
    private readonly viewers: Viewers,
    private readonly tokens: TokenDirectory,
  ) {}

  /** Answers with the message, with the events of its turn as they happen, or at once with where to look for it. */
  async send(
    sessionId: string,
    body: SendMessageRequest,
    caller: Caller,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    const message = newUserMessage(body);
    if (wantsNoWaiting(request.headers)) {
      const { userMessageId } = await this.messages.start(sessionId, message, caller);
      response.setHeader('Preference-Applied', 'respond-async');
      response.location(`/${API_PREFIX}/sessions/${sessionId}/messages`);
      response.status(202).json({ message_id: userMessageId } satisfies AcceptedView);
      return;
    }
    if (!acceptsEvents(request.headers)) {
      response.status(200).json(presentMessage(await this.messages.send(sessionId, message, caller)));
      return;
    }
    this.viewers.refuseTooMany();
    const { live } = await this.messages.start(sessionId, message, caller);
    this.view(request, response, 'turn').follow(live);
  }

  /** Answers with a page of the history, or with the events of every turn from now or from the last event on. */
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
    this.viewers.refuseTooMany();
    const seen = parseEventId(request.get('last-event-id') ?? '');
    await this.views.open(sessionId, this.view(request, response, 'cut'), seen);
  }

  private view(request: GatewayRequest, response: Response, until: 'turn' | 'cut'): SseViewer {
    const viewer = new SseViewer(response, request.profile as ProfileId, until);
    const token = request.headers.authorization?.trim().split(' ').at(-1);
    this.viewers.add(viewer, async () => (await this.tokens.find(token)) !== undefined);
    if (response.closed) viewer.end();
    return viewer;
  }
}
