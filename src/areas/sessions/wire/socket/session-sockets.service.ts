import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import type { HeldBytes } from '../../../../common/bytes/held-bytes.js';
import { GatewayError, InternalError } from '../../../../common/errors/gateway-error.js';
import { RefusalLog } from '../../../../http/access-log/refusal-log.js';
import { BodyRoom } from '../../../../http/body/body-room.js';
import { sendRawResponse } from '../../../../http/envelope/raw-refusal.js';
import { ClientAddress } from '../../../../http/guards/client-address.js';
import { RateCharge } from '../../../../http/guards/rate-charge.js';
import { faceOf } from '../../../../http/profiles/faces.js';
import type { ProfileId } from '../../../../http/profiles/profile.js';
import { CallerDirectory } from '../../../../platform/identity/caller-directory.js';
import { onBehalfOf } from '../../../../platform/logging/log-context.js';
import { type Logger, Logs } from '../../../../platform/logging/logger.js';
import { Settings } from '../../../../platform/settings/settings.js';
import { type Caller, familyOf } from '../../../../platform/tokens/caller.js';
import { SessionViews, Viewers } from '../../../live/live.api.js';
import type { StartedTurn } from '../../../turns/turns.api.js';
import { MessagesService } from '../../messages.service.js';
import { Questions } from '../../questions.service.js';
import { ToolAnswers } from '../../tool-answers.service.js';
import { ArrivingMessage } from './arriving-message.js';
import { type ClientFrame, readClientFrame } from './client-frame.js';
import { type AcceptedHandshake, Handshake, PROTOCOL } from './handshake.service.js';
import { type ArrivedFrame, SocketInbox } from './socket-inbox.js';
import { SocketViewer } from './socket-viewer.js';

/** A ping, and room for the fields of later versions. */
const READER_FRAME_BYTES = 4096;
/** Pieces that one message may come in; each costs as much as a frame and is not charged. */
const MAX_FRAGMENTS = 1024;
/** Of the network, in which the frame of a reader may arrive: each takes half a kilobyte, whatever is in it. */
const READER_CHUNKS = 64;

interface OpenedSocket {
  readonly viewer: SocketViewer;
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  readonly address: string;
}

interface FrameOrigin {
  readonly sessionId: string;
  readonly caller: Caller;
  readonly held: HeldBytes | undefined;
}

/** The WebSockets of sessions. They show every turn, and accept messages, cancellations and answers to tool calls and to what tools ask. */
@Injectable()
export class SessionSockets {
  private readonly logger: Logger;
  private readonly writers: WebSocketServer;
  private readonly readers: WebSocketServer;

  constructor(
    private readonly handshake: Handshake,
    private readonly viewers: Viewers,
    private readonly views: SessionViews,
    private readonly messages: MessagesService,
    private readonly answers: ToolAnswers,
    private readonly questions: Questions,
    private readonly tokens: CallerDirectory,
    private readonly charge: RateCharge,
    private readonly room: BodyRoom,
    private readonly refusals: RefusalLog,
    private readonly addresses: ClientAddress,
    settings: Settings,
    logs: Logs,
  ) {
    this.logger = logs.for('sessions::socket');
    this.writers = serverOf({ maxPayload: settings.current.gateway.max_message_body_bytes });
    this.readers = serverOf({ maxPayload: READER_FRAME_BYTES, maxBufferedChunks: READER_CHUNKS });
  }

  /** Takes a connection that asks for a WebSocket, on the listener of either profile. Never throws: it answers. */
  accept(profile: ProfileId, request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const headers: Record<string, string> = {};
    const ready = async () => {
      const handshake = await this.handshake.check(request, headers);
      return { handshake, stopExpecting: await this.views.expect(handshake.sessionId) };
    };
    ready().then(
      ({ handshake, stopExpecting }) => {
        const server = handshake.mayWrite ? this.writers : this.readers;
        let opened: Promise<void> | undefined;
        // Calls back before it returns, and not at all for a socket that is gone.
        server.handleUpgrade(request, socket, head, (webSocket) => {
          const viewer = new SocketViewer(webSocket, socket, profile);
          const opening = { viewer, webSocket, socket, address: this.addresses.of(request) };
          opened = this.open(opening, handshake);
        });
        void (opened ?? Promise.resolve()).then(stopExpecting);
      },
      (thrown: unknown) => {
        const error = this.errorOf(thrown);
        this.refusals.note(error, { address: this.addresses.of(request) });
        sendRawResponse(socket, { profile, face: faceOf(request.url ?? '') }, error, headers);
      },
    );
  }

  private open(
    { viewer, webSocket, socket, address }: OpenedSocket,
    handshake: AcceptedHandshake,
  ): Promise<void> {
    const { token, sessionId, seen, caller } = handshake;
    const errorOf = (thrown: unknown) => this.errorOf(thrown);
    const origin = { actor: caller.tokenName, address, tokenId: caller.tokenId };
    this.viewers.add(viewer, handshake.caller, () => this.tokens.mayGoOn(token));
    const inbox = new SocketInbox(viewer, {
      charge: () => this.charge.ask(`token:${handshake.caller.tokenId}`, handshake.tier),
      read: (frame) =>
        onBehalfOf(
          () => origin,
          { session_id: sessionId },
          () => this.read(viewer, handshake, frame),
        ),
      errorOf,
    });
    const enter = (): HeldBytes => this.room.enter(familyOf(caller));
    const arriving = handshake.mayWrite
      ? new ArrivingMessage({ viewer, webSocket, socket, enter, errorOf })
      : undefined;
    webSocket.on('message', (data, isBinary) =>
      inbox.message({ data: data as Buffer, isBinary, held: arriving?.take() }),
    );
    webSocket.on('ping', (data) => inbox.ping(data));
    webSocket.on('pong', () => inbox.pong());
    return this.views.open(sessionId, viewer, seen).catch((thrown: unknown) => {
      viewer.reply(this.errorOf(thrown));
      viewer.cut('stalled');
    });
  }

  private async read(
    viewer: SocketViewer,
    { caller, sessionId, token }: AcceptedHandshake,
    { data, isBinary, held }: ArrivedFrame,
  ): Promise<StartedTurn | undefined> {
    // Its last piece may have arrived although there was no room for it.
    held?.add(0);
    const frame = await readClientFrame(data, isBinary, caller.scopes);
    if (frame.type === 'ping') {
      viewer.reply({ type: 'pong' });
      return undefined;
    }
    if ((await this.tokens.find(token)) === undefined) {
      viewer.cut('forbidden');
      return undefined;
    }
    return this.obey(frame, { sessionId, caller, held });
  }

  private async obey(
    frame: Exclude<ClientFrame, { type: 'ping' }>,
    { sessionId, caller, held }: FrameOrigin,
  ): Promise<StartedTurn | undefined> {
    switch (frame.type) {
      case 'cancel':
        await this.messages.cancel(sessionId, caller);
        return undefined;
      case 'tool_approval':
        await this.answers.answer(sessionId, frame.approvalId, frame.verdict, caller);
        return undefined;
      case 'tool_answer':
        await this.questions.answer(frame.questionId, frame.answer, caller, sessionId);
        return undefined;
      case 'message':
        return this.messages.start(sessionId, { ...frame.message, held }, caller);
      default:
        frame satisfies never;
        return undefined;
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

function serverOf(limits: Pick<ServerOptions, 'maxPayload' | 'maxBufferedChunks'>): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    ...limits,
    maxFragments: MAX_FRAGMENTS,
    // Pings are charged like everything else before they are answered.
    autoPong: false,
    // One frame in each turn of the event loop, so that a client that floods waits behind all others.
    allowSynchronousEvents: false,
    handleProtocols: (offered) => (offered.has(PROTOCOL) ? PROTOCOL : false),
  });
}
