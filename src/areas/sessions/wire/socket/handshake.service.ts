import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { BadRequest, NotFound, RateLimited, Unauthorized } from '../../../../common/errors/gateway-error.js';
import type { RateTier } from '../../../../http/guards/access.decorator.js';
import { ClientAddress } from '../../../../http/guards/client-address.js';
import { refuseForeignOrigin } from '../../../../http/guards/foreign-origin.js';
import { RateCharge, rateHeaders, rateLimited } from '../../../../http/guards/rate-charge.js';
import { UnknownTokenGate } from '../../../../http/guards/unknown-token-gate.js';
import { CallerDirectory } from '../../../../platform/identity/caller-directory.js';
import { Settings } from '../../../../platform/settings/settings.js';
import type { Caller } from '../../../../platform/tokens/caller.js';
import { grants, LacksScope } from '../../../../platform/tokens/scopes.js';
import { bearerOf } from '../../../../platform/tokens/token-format.js';
import { parseEventId, type SeenEvent, Viewers } from '../../../live/live.api.js';
import { SessionsService } from '../../sessions.service.js';

export const PROTOCOL = 'gateway.v1';
const PATH = /^\/ws\/sessions\/([^/]{1,128})$/;

/** An accepted handshake: who asks, for which session, and which event they saw last. */
export interface AcceptedHandshake {
  readonly caller: Caller;
  readonly token: string;
  readonly sessionId: string;
  readonly seen: SeenEvent | undefined;
  /** Whether it may send messages, which may be large: the scope `sessions:write`. */
  readonly mayWrite: boolean;
  /** The rate tier that its frames are charged to. */
  readonly tier: RateTier;
}

/** Checks a WebSocket before its handshake, in the same order as any request: token, rate, scope, existence, state. */
@Injectable()
export class Handshake {
  constructor(
    private readonly tokens: CallerDirectory,
    private readonly charge: RateCharge,
    private readonly addresses: ClientAddress,
    private readonly gate: UnknownTokenGate,
    private readonly sessions: SessionsService,
    private readonly viewers: Viewers,
    private readonly settings: Settings,
  ) {}

  /** Throws the `GatewayError` to answer with. `headers` gets those of the rate limit in any case. */
  async check(request: IncomingMessage, headers: Record<string, string>): Promise<AcceptedHandshake> {
    const token = tokenOf(request);
    const caller = await this.callerOf(request, token, headers);
    await this.chargeTo(`token:${caller.tokenId}`, headers);
    if (!grants(caller.scopes, 'sessions:read')) {
      throw new LacksScope('sessions:read');
    }
    const { pathname, searchParams } = urlOf(request);
    const sessionId = PATH.exec(pathname)?.[1];
    if (sessionId === undefined) throw new NotFound('WebSockets are at /ws/sessions/:id.');
    refuseForeignOrigin(this.settings, request.headers);
    await this.sessions.find(sessionId, caller);
    this.viewers.refuseTooMany(caller);
    const seen = parseEventId(searchParams.get('last_event_id') ?? '');
    const mayWrite = grants(caller.scopes, 'sessions:write');
    const mayAct = mayWrite || grants(caller.scopes, 'approvals:write');
    const tier = mayAct ? 'sessions_write' : 'sessions_read';
    return { caller, token: token ?? '', sessionId, seen, mayWrite, tier };
  }

  private async callerOf(
    request: IncomingMessage,
    token: string | undefined,
    headers: Record<string, string>,
  ): Promise<Caller> {
    const group = this.addresses.groupOf(request);
    try {
      const caller = await this.tokens.find(token, () => this.gate.of(group, 'sessions_read'));
      if (caller !== undefined) return caller;
    } catch (error) {
      if (!(error instanceof RateLimited)) await this.chargeTo(`stranger:${group}`, headers);
      throw error;
    }
    await this.chargeTo(`stranger:${group}`, headers);
    throw new Unauthorized(
      `A current access token is required: "Authorization: Bearer <token>" or "Sec-WebSocket-Protocol: ${PROTOCOL}, bearer.<token>".`,
      { headers: { 'WWW-Authenticate': 'Bearer realm="agent-gateway"' } },
    );
  }

  private async chargeTo(bucket: string, headers: Record<string, string>): Promise<void> {
    const decision = await this.charge.ask(bucket, 'sessions_read');
    Object.assign(headers, rateHeaders(decision));
    if (!decision.allowed) throw rateLimited(decision);
  }
}

/** Browsers cannot set headers on a WebSocket, so the token may come as a second protocol. It is never read from the query. */
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
