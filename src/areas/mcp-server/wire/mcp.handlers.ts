import { randomUUID } from 'node:crypto';
import { type CallToolResult, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { stackOf } from '../../../common/errors/error-text.js';
import { BadRequest, MethodNotAllowed } from '../../../common/errors/gateway-error.js';
import type { GatewayRequest } from '../../../http/gateway-request.js';
import type { RequestKey } from '../../../http/idempotency/request-key.js';
import { CallerDirectory } from '../../../platform/identity/caller-directory.js';
import { type Logger, Logs } from '../../../platform/logging/logger.js';
import type { Traffic } from '../../../platform/runtime/event-stream.js';
import { SseResponse } from '../../../platform/runtime/sse-response.js';
import type { Caller } from '../../../platform/tokens/caller.js';
import { bearerOf } from '../../../platform/tokens/token-format.js';
import type { Asker } from '../asked-turns.service.js';
import { type CallEvent, callEventId, isMcpSession, parseCallEventId } from '../call-ids.js';
import { isLeft } from '../failed-call.js';
import { RETRY_MS } from '../legacy-exchange.js';
import { McpEndpoint } from '../mcp-endpoint.service.js';
import { ResumedCalls } from '../resumed-calls.service.js';
import type { ProgressListener } from '../turn-progress.js';
import { goneSignal, sendWebResponse, webRequest } from './web-exchange.js';

const SESSION = 'mcp-session-id';
const HEARTBEAT_MS = 15_000;
/** No progress is written while more than this is in flight: what is left out is older than what comes after it. */
const MAX_PENDING_BYTES = 65_536;

/** The two methods of the MCP endpoint. */
@Injectable()
export class McpHandlers {
  private readonly logger: Logger;

  constructor(
    private readonly endpoint: McpEndpoint,
    private readonly resumed: ResumedCalls,
    private readonly tokens: CallerDirectory,
    logs: Logs,
  ) {
    this.logger = logs.for('mcp::server');
  }

  async post(
    caller: Caller,
    key: RequestKey | undefined,
    request: GatewayRequest,
    response: Response,
  ): Promise<void> {
    const body = request.body as Record<string, unknown>;
    const exchange = { asker: this.asker(caller, key, request), mcpSession: sessionOf(request), body };
    const answer = await this.endpoint.post(webRequest(request, goneSignal(response)), exchange);
    // Anything but a call of an agent has no effect that a repetition could double.
    if (body['method'] !== 'tools/call') key?.replayed();
    // Nothing is stored for it: it tells the calls of one client apart, on any replica.
    if (body['method'] === 'initialize' && answer.ok) response.setHeader(SESSION, randomUUID());
    await sendWebResponse(answer, response);
  }

  /** Continues the stream of a call that was cut. There are no other streams. */
  async get(caller: Caller, request: GatewayRequest, response: Response): Promise<void> {
    const lastEventId = request.get('last-event-id');
    if (lastEventId === undefined || request.accepts('text/event-stream') === false)
      throw new MethodNotAllowed(
        'There are no events outside calls. With Last-Event-ID, a call that was cut goes on.',
        {
          headers: { Allow: 'POST' },
        },
      );
    const [event, mcpSession] = [parseCallEventId(lastEventId), sessionOf(request)];
    if (event === undefined || mcpSession === undefined)
      throw new BadRequest('Send Last-Event-ID and Mcp-Session-Id as they came.');
    const asker = this.asker(caller, undefined, request);
    const gone = goneSignal(response);
    const turnId = await this.resumed.find(mcpSession, event, asker, gone);
    const stream = new CallStream(event, response);
    try {
      const watched = { ...asker, connection: () => stream.traffic };
      stream.end(await this.resumed.result(turnId, watched, gone, stream.listener));
    } catch (error) {
      // This replica stops, the token ended, or the client took nothing: one whose stream is cut comes back.
      if (isLeft(error)) stream.destroy();
      else {
        this.logger.error('a call that was cut could not go on', { turn_id: turnId, error: stackOf(error) });
        stream.fail();
      }
    }
  }

  private asker(caller: Caller, key: RequestKey | undefined, request: GatewayRequest): Asker {
    const token = bearerOf(request.headers.authorization);
    return { caller, key, mayGoOn: () => this.tokens.mayGoOn(token) };
  }
}

/** The rest of the stream that answers a call. */
class CallStream {
  private readonly stream: SseResponse;
  private position: number;

  constructor(
    private readonly event: CallEvent,
    response: Response,
  ) {
    this.position = event.position;
    this.stream = new SseResponse(response);
    // Like the first event of a POST: a client that is cut before anything else comes back with this id.
    this.stream.begin({ opening: `id: ${callEventId(event)}\nretry: ${RETRY_MS}\ndata: \n\n` });
    this.stream.beatEvery(HEARTBEAT_MS, ': heartbeat\n');
  }

  get traffic(): Traffic {
    return this.stream.traffic;
  }

  get listener(): ProgressListener | undefined {
    const { progressToken, position: seen } = this.event;
    if (progressToken === undefined) return undefined;
    const method = 'notifications/progress';
    return {
      seen,
      report: (progress, message) => {
        if (this.stream.pendingBytes > MAX_PENDING_BYTES) return;
        this.write(progress, { method, params: { progressToken, progress, message } });
      },
    };
  }

  end(result: CallToolResult): void {
    this.write(this.position + 1, { id: this.event.requestId, result });
    this.stream.end();
  }

  /** Ends it with a failure of the gateway, so that nobody comes back for it. */
  fail(): void {
    const error = { code: ProtocolErrorCode.InternalError, message: 'Internal error' };
    this.write(this.position + 1, { id: this.event.requestId, error });
    this.stream.end();
  }

  destroy(): void {
    this.stream.destroy();
  }

  private write(position: number, message: object): void {
    this.position = position;
    const id = callEventId({ ...this.event, position });
    const data = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.stream.write(`event: message\nid: ${id}\ndata: ${data}\n\n`);
  }
}

/** Throws `BadRequest` for a header that names no session. */
function sessionOf(request: GatewayRequest): string | undefined {
  const sent = request.get(SESSION);
  if (sent === undefined || isMcpSession(sent)) return sent;
  throw new BadRequest('Mcp-Session-Id must be 1 to 128 visible ASCII characters: send it as it came.');
}
