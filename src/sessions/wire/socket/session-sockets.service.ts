import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { type WebSocket, WebSocketServer } from 'ws';
import { Settings } from '../../../config/settings.js';
import { RateCharge, rateLimited } from '../../../edge/rate-charge.js';
import { answerRaw } from '../../../edge/raw-answer.js';
import { Conflict, Forbidden, GatewayError, InternalError } from '../../../errors/gateway-error.js';
import { inLogContext } from '../../../logs/log-context.js';
import { type Logger, Logs } from '../../../logs/logger.js';
import type { ProfileId } from '../../../profiles/profile.js';
import type { Caller } from '../../../tokens/caller.js';
import { grants } from '../../../tokens/scopes.js';
import { TokenDirectory } from '../../../tokens/token-directory.js';
import { SessionSockets } from '../../live/session-sockets.port.js';
import { SessionViews } from '../../live/session-views.service.js';
import { Viewers } from '../../live/viewers.service.js';
import { MessagesService } from '../../messages.service.js';
import { ToolAnswers } from '../../tool-answers.service.js';
import { type ClientFrame, readClientFrame } from './client-frame.js';
import { type Entrance, Handshake, PROTOCOL } from './handshake.service.js';
import { SocketViewer } from './socket-viewer.js';

/** Messages of one WebSocket that may wait for their turn to begin. */
const MOST_UNDERWAY = 16;

/** The WebSockets of sessions: they show every turn, and take messages, the wish to cancel and answers to tool calls. */
@Injectable()
export class SessionSocketsService extends SessionSockets {
  private readonly logger: Logger;
  private readonly server: WebSocketServer;

  constructor(
    private readonly handshake: Handshake,
    private readonly viewers: Viewers,
    private readonly views: SessionViews,
    private readonly messages: MessagesService,
    private readonly answers: ToolAnswers,
    private readonly tokens: TokenDirectory,
    private readonly charge: RateCharge,
    settings: Settings,
    logs: Logs,
  ) {
    super();
    this.logger = logs.for('sessions::socket');
    this.server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: settings.current.gateway.max_message_body_bytes,
      handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
    });
  }

  take(profile: ProfileId, request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const told: Record<string, number> = {};
    this.handshake.check(request, told).then(
      (entrance) =>
        this.server.handleUpgrade(request, socket, head, (webSocket) =>
          this.open(new SocketViewer(webSocket, socket, profile), webSocket, entrance),
        ),
      (thrown: unknown) => answerRaw(socket, profile, this.errorOf(thrown), told),
    );
  }

  private open(viewer: SocketViewer, webSocket: WebSocket, entrance: Entrance): void {
    const { token, sessionId, seen } = entrance;
    let underway = 0;
    this.viewers.add(viewer, async () => (await this.tokens.find(token)) !== undefined);
    webSocket.on('message', (data, isBinary) => {
      if (underway >= MOST_UNDERWAY) {
        viewer.tell(new Conflict('Too many messages of this connection wait.', { retryAfterSecs: 1 }));
        return;
      }
      underway += 1;
      void inLogContext({ session_id: sessionId }, () =>
        this.heed(viewer, entrance, data as Buffer, isBinary),
      )
        .catch((thrown: unknown) => viewer.tell(this.errorOf(thrown)))
        .finally(() => {
          underway -= 1;
        });
    });
    this.views.open(sessionId, viewer, seen).catch((thrown: unknown) => {
      viewer.tell(this.errorOf(thrown));
      viewer.cut('stalled');
    });
  }

  private async heed(
    viewer: SocketViewer,
    entrance: Entrance,
    data: Buffer,
    isBinary: boolean,
  ): Promise<void> {
    const frame = await readClientFrame(data, isBinary);
    if (frame.type === 'ping') {
      viewer.tell({ type: 'pong' });
      return;
    }
    const { caller, sessionId, token } = entrance;
    if ((await this.tokens.find(token)) === undefined) {
      viewer.cut('forbidden');
      return;
    }
    const decision = await this.charge.ask(`token:${caller.tokenId}`, 'sessions_write');
    if (!decision.allowed) throw rateLimited(decision);
    if (!grants(caller.scopes, 'sessions:write')) {
      throw new Forbidden('This token lacks the scope "sessions:write". Ask for a token that has it.');
    }
    await this.obey(frame, sessionId, caller);
  }

  private async obey(frame: Exclude<ClientFrame, { type: 'ping' }>, sessionId: string, caller: Caller) {
    switch (frame.type) {
      case 'cancel':
        await this.messages.cancel(sessionId, caller);
        return;
      case 'tool_approval':
        await this.answers.answer(sessionId, frame.approvalId, frame.verdict, caller);
        return;
      case 'message':
        await this.messages.start(sessionId, frame.message, caller);
        return;
      default:
        frame satisfies never;
    }
  }

  private errorOf(thrown: unknown): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    this.logger.error('an unexpected error on a WebSocket', {
      error: thrown instanceof Error ? thrown.stack : String(thrown),
    });
    return new InternalError('Something unexpected went wrong.', { cause: thrown });
  }
}
