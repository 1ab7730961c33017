import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import { CallerDirectory } from '../../../platform/identity/caller-directory.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { bearerOf } from '../../../platform/tokens/token-format.js';
import { Viewers } from '../../live/live.api.js';
import type { EventEncoder } from '../chat/chat-events.js';
import { EventViewer } from './event-viewer.js';

/** A request with its caller, and its response. */
export interface Exchange {
  readonly caller: Caller;
  readonly request: GatewayRequest;
  readonly response: Response;
}

/** Shows turns as streams of events, for as long as the client is there and its token is good. */
@Injectable()
export class EventViewers {
  constructor(
    private readonly viewers: Viewers,
    private readonly tokens: CallerDirectory,
  ) {}

  /** Call it before anything begins. Throws `Unavailable` and `RateLimited`. */
  refuseTooMany(caller: Caller): void {
    this.viewers.refuseTooMany(caller);
  }

  /** Begins the stream; the caller decides what it follows. */
  open(events: EventEncoder, { caller, request, response }: Exchange): EventViewer {
    const viewer = new EventViewer(response, events);
    const token = bearerOf(request.headers.authorization);
    this.viewers.add(viewer, caller, () => this.tokens.mayGoOn(token));
    if (response.closed) viewer.end();
    return viewer;
  }
}
