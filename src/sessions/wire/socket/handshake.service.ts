import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { ClientAddress } from '../../../edge/client-address.js';
import { RateCharge, rateHeaders, rateLimited } from '../../../edge/rate-charge.js';
import { BadRequest, Forbidden, NotFound, Unauthorized } from '../../../errors/gateway-error.js';
import { bearerOf } from '../../../tokens/bearer.js';
import type { Caller } from '../../../tokens/caller.js';
import { grants } from '../../../tokens/scopes.js';
import { TokenDirectory } from '../../../tokens/token-directory.js';
import { parseEventId, type SeenEvent } from '../../live/event-id.js';
import { Viewers } from '../../live/viewers.service.js';
import { SessionsService } from '../../sessions.service.js';

export const PROTOCOL = 'gateway.v1';
const PATH = /^\/ws\/sessions\/([^/]{1,128})$/;

/** What a handshake is worth: who asks, for which session, and what they saw last. */
export interface Entrance {
  readonly caller: Caller;
  readonly token: string;
  readonly sessionId: string;
  readonly seen: SeenEvent | undefined;
}

/** Checks a WebSocket before its handshake, in the order of every request: token, rate, scope, existence, state. */
@Injectable()
export class Handshake {
  constructor(
    private readonly tokens: TokenDirectory,
    private readonly charge: RateCharge,
    private readonly addresses: ClientAddress,
    private readonly sessions: SessionsService,
    private readonly viewers: Viewers,
  ) {}

  /** Throws the `GatewayError` to answer with. `told` gets the headers of the rate limit, whatever follows. */
  async check(request: IncomingMessage, told: Record<string, number>): Promise<Entrance> {
    const token = tokenOf(request);
    const caller = await this.callerOf(request, token, told);
    await this.take(`token:${caller.tokenId}`, told);
    if (!grants(caller.scopes, 'sessions:read')) {
      throw new Forbidden('This token lacks the scope "sessions:read". Ask for a token that has it.');
    }
    const { pathname, searchParams } = urlOf(request);
    const sessionId = PATH.exec(pathname)?.[1];
    if (sessionId === undefined) throw new NotFound('WebSockets are at /ws/sessions/:id.');
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      throw new BadRequest('Only an upgrade to a WebSocket is served here.');
    }
    await this.sessions.find(sessionId, caller);
    this.viewers.refuseTooMany();
    const seen = parseEventId(searchParams.get('last_event_id') ?? '');
    return { caller, token: token ?? '', sessionId, seen };
  }

  private async callerOf(
    request: IncomingMessage,
    token: string | undefined,
    told: Record<string, number>,
  ): Promise<Caller> {
    try {
      const caller = await this.tokens.find(token);
      if (caller !== undefined) return caller;
    } catch (error) {
      await this.take(`stranger:${this.addresses.of(request)}`, told);
      throw error;
    }
    await this.take(`stranger:${this.addresses.of(request)}`, told);
    throw new Unauthorized(
      `A current access token is required: "Authorization: Bearer <token>" or "Sec-WebSocket-Protocol: ${PROTOCOL}, bearer.<token>".`,
      { headers: { 'WWW-Authenticate': 'Bearer realm="agent-gateway"' } },
    );
  }

  private async take(bucket: string, told: Record<string, number>): Promise<void> {
    const decision = await this.charge.ask(bucket, 'sessions_read');
    Object.assign(told, rateHeaders(decision));
    if (!decision.allowed) throw rateLimited(decision);
  }
}

/** Browsers cannot set headers on a WebSocket: the token then comes as a second protocol. Never from the query. */
function tokenOf({ headers }: IncomingMessage): string | undefined {
  const bearer = bearerOf(headers.authorization);
  if (bearer !== undefined) return bearer;
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  return offered.find((one) => one.startsWith('bearer.'))?.slice('bearer.'.length);
}

function urlOf(request: IncomingMessage): URL {
  const url = `http://gateway${request.url ?? '/'}`;
  if (!URL.canParse(url)) throw new BadRequest('The URL cannot be read.');
  return new URL(url);
}
