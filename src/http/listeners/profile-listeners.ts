import type { IncomingMessage, Server } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express, Response } from 'express';
import { onBehalfOf } from '../../platform/logging/log-context.js';
import type { GatewaySettings } from '../../platform/settings/settings.schema.js';
import { isTracing, startRequest } from '../../platform/tracing/spans.js';
import type { AccessLog } from '../access-log/access-log.js';
import { type RawRefusal, TOO_MANY_WAIT } from '../envelope/raw-refusal.js';
import { type GatewayRequest, routeLabel, routeOf } from '../gateway-request.js';
import type { ListenerId, ProfileId } from '../profiles/profile.js';
import { ConnectionOrder } from './connection-order.js';
import { CutOffConnections } from './cut-off-connections.js';
import { DetachedSockets } from './detached-sockets.js';
import {
  asksForWebSocket,
  createExpressServer,
  cutWhenStalled,
  type ExpressClasses,
  expressClasses,
  ignoreUpgrade,
} from './listener-server.js';
import { isFramedTwice, stampRequest } from './request-stamp.js';
import { UnansweredResponses } from './unanswered-responses.js';

const POLL_MS = 20;
const QUIET_MS = 0.5;
/** The wait for a quiet moment ends after this long on a machine that is never quiet. */
const QUIET_LIMIT_MS = 1000;

/** How long WebSockets have for what they still send and for their close, once everything else is closed. */
const LAST_FRAMES_MS = 3000;

/** Takes a connection that asks to be a WebSocket. */
export type UpgradeHandler = (
  profile: ProfileId,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
) => void;

export type ListenerPorts = Partial<Record<ListenerId, number>>;

/** The open ports: one per profile, one for operations. Stamps every request with its listener. */
export class ProfileListeners {
  private readonly servers = new Map<ListenerId, Server>();
  private readonly classes: ExpressClasses;
  /** Connections so far. */
  private accepted = 0;
  private readonly order = new ConnectionOrder();
  private readonly cutOff = new CutOffConnections();
  private readonly detached = new DetachedSockets();
  /** Connections seen before: one whose upgrade was ignored is accepted a second time. */
  private readonly met = new WeakSet<Socket>();
  private acceptWebSocket: UpgradeHandler | undefined;
  private readonly unanswered = new UnansweredResponses();
  /** Whether every response ends its connection, so that clients open the next one elsewhere. */
  endsConnections = false;

  constructor(
    private readonly express: Express,
    private readonly accessLog: AccessLog,
    private readonly rawRefusal: RawRefusal,
  ) {
    this.classes = expressClasses(express);
  }

  /** Without this, on the operations port, and for any other protocol, the `Upgrade` header is ignored. */
  onUpgrade(take: UpgradeHandler): void {
    this.acceptWebSocket = take;
  }

  /** Opens all ports or none. Rejects with one sentence that names the port and the setting. */
  async open(settings: GatewaySettings['gateway']): Promise<ListenerPorts> {
    const requested: [ListenerId, number, string][] = [];
    if (settings.profiles.includes('a')) requested.push(['a', settings.profile_a_port, 'profile_a_port']);
    if (settings.profiles.includes('b')) requested.push(['b', settings.port, 'port']);
    requested.push(['operations', settings.management_port, 'management_port']);
    const ports: ListenerPorts = {};
    try {
      for (const [listener, port, key] of requested) {
        ports[listener] = await this.openOne(listener, hostOf(listener, settings), port, key);
      }
    } catch (error) {
      await this.close();
      throw error;
    }
    return ports;
  }

  /**
   * Refuses new connections; those with a request end after its response. Node's own `close` would also cut idle ones,
   * into which a load balancer may be writing just now: `closeIdle` ends those a little later. Connections not yet
   * accepted when listening ends are reset, so it ends after a moment in which none waited.
   */
  async stopAccepting(): Promise<void> {
    const deadline = performance.now() + QUIET_LIMIT_MS;
    while (!(await this.isQuietTurn()) && performance.now() < deadline);
    for (const server of this.servers.values()) NetServer.prototype.close.call(server);
  }

  /** Whether one short turn of the event loop passed without a waiting connection. */
  private async isQuietTurn(): Promise<boolean> {
    const [accepted, startedAt] = [this.accepted, performance.now()];
    await new Promise(setImmediate);
    return this.accepted === accepted && performance.now() - startedAt < QUIET_MS;
  }

  closeIdle(): void {
    for (const server of this.servers.values()) server.closeIdleConnections();
  }

  /** Resolves when the response to every fully received request is sent to its last byte, or when `signal` fires. */
  async answered(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.unanswered.all().some(({ req }) => req.complete)) await sleep(POLL_MS);
  }

  /** Requests whose response is not sent to its last byte, as `GET /api/v1/sessions/:id`. */
  get unansweredRoutes(): string[] {
    return this.unanswered.all().map(({ req }) => `${req.method} ${routeLabel(req as GatewayRequest)}`);
  }

  async close(): Promise<void> {
    const closed = [...this.servers.values()].map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    for (const server of this.servers.values()) server.closeAllConnections();
    this.detached.destroyWaiting();
    const patience = setTimeout(() => this.detached.destroyAll(), LAST_FRAMES_MS);
    await Promise.all(closed);
    clearTimeout(patience);
    this.servers.clear();
  }

  private openOne(listener: ListenerId, host: string, port: number, key: string): Promise<number> {
    const server = createExpressServer(this.classes, (request, response) => {
      this.serve(listener, request as GatewayRequest, response as Response);
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
      this.refuse(listener, socket as Socket, error.code),
    );
    server.on('connection', (socket) => this.meetRequest(socket));
    server.on('upgrade', (request: IncomingMessage, socket: Socket, rest: Buffer) =>
      this.upgrade(listener, server, request, socket, rest),
    );
    server.on('connect', (_request, socket) => {
      this.detached.hold(socket as Socket);
      this.refuse(listener, socket as Socket, undefined);
    });
    // `JsonBodyGuard` sends "100 Continue", after the caller is known.
    for (const event of ['checkContinue', 'checkExpectation'] as const)
      server.on(event, (request, response) => server.emit('request', request, response));
    this.servers.set(listener, server);
    return new Promise((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port, key)));
      server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
    });
  }

  private meetRequest(socket: Socket): void {
    if (this.met.has(socket)) return;
    this.met.add(socket);
    this.accepted += 1;
    socket.once('close', () => this.unanswered.closeAll(socket));
  }

  private upgrade(
    listener: ListenerId,
    server: Server,
    request: IncomingMessage,
    socket: Socket,
    rest: Buffer,
  ): void {
    const release = this.detached.hold(socket);
    const { acceptWebSocket } = this;
    this.order.afterAll(socket, () => {
      // Ended with the response before, so nobody can be answered.
      if (!socket.writable) {
        socket.destroy();
        return;
      }
      // Of the response before.
      socket.setTimeout(0);
      if (listener !== 'operations' && acceptWebSocket !== undefined && asksForWebSocket(request))
        acceptWebSocket(listener, request, socket, rest);
      else ignoreUpgrade(server, request, socket, rest);
      release();
    });
  }

  private serve(listener: ListenerId, request: GatewayRequest, response: Response): void {
    const { socket } = request;
    if (this.cutOff.has(socket)) {
      this.cutOff.ignoreOne(socket);
      return;
    }
    const isTwofold = isFramedTwice(request);
    if (isTwofold || !this.order.hasRoom(request)) {
      this.cutOff.add(socket);
      this.refuse(listener, socket, isTwofold ? undefined : TOO_MANY_WAIT);
      return;
    }
    this.unanswered.add(response);
    this.order.inTurn(response, () => this.handle(listener, request, response));
  }

  private handle(listener: ListenerId, request: GatewayRequest, response: Response): void {
    stampRequest(request, response, listener);
    if (this.endsConnections) response.setHeader('Connection', 'close');
    cutWhenStalled(response);
    response.once('close', () => {
      this.unanswered.delete(response);
      this.accessLog.finished(request, response);
    });
    const handle = (): void =>
      onBehalfOf(
        () => this.accessLog.originOf(request),
        { request_id: request.requestId },
        () => void this.express(request, response),
      );
    if (listener === 'operations' || !isTracing()) handle();
    else traced(request, response, handle);
  }

  private refuse(listener: ListenerId, socket: Socket, code: string | undefined): void {
    this.order.refuse(socket, () => {
      this.cutOff.release(socket);
      void this.rawRefusal.answer(socket, listener, code);
    });
  }
}

/** The operations port may have an address of its own, since it needs no token. */
function hostOf(listener: ListenerId, { host, management_host }: GatewaySettings['gateway']): string {
  return listener === 'operations' && management_host !== '' ? management_host : host;
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number, key: string): Error {
  const where = `${host}:${port}`;
  const setting = `set gateway.${key} (or GATEWAY__GATEWAY__${key.toUpperCase()}) to another`;
  if (error.code === 'EADDRINUSE')
    return new Error(`Port ${where} is taken: stop what uses it, or ${setting}.`);
  if (error.code === 'EACCES')
    return new Error(`Port ${where} needs more rights than this user has: ${setting}.`);
  const hostKey = key === 'management_port' ? 'host, gateway.management_host' : 'host';
  return new Error(
    `Cannot listen on ${where}: ${error.message}. Check gateway.${hostKey} and gateway.${key}; over a value that a PATCH stored, the file or the environment of this replica wins.`,
  );
}

/** Everything that the request causes belongs to its span, which ends with the response. */
function traced(request: GatewayRequest, response: Response, handle: () => void): void {
  const span = startRequest(request.headers, request.method);
  // Without the query, which may hold personal data. Read now: the router changes the URL later.
  const [path = '/'] = request.url.split('?', 1);
  response.once('close', () => {
    const route = routeOf(request);
    span.end({
      name: route === undefined ? request.method : `${request.method} ${route}`,
      status: response.statusCode,
      attributes: {
        'http.request.method': request.method,
        ...(route === undefined ? {} : { 'http.route': route }),
        'url.scheme': 'http',
        'url.path': path,
        'server.port': request.socket.localPort,
        'network.protocol.version': request.httpVersion,
        'http.response.status_code': response.statusCode,
        'gateway.profile': request.profile,
        'gateway.request_id': request.requestId,
      },
    });
  });
  span.run(handle);
}
