import { once } from 'node:events';
import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  type McpRequestContext,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { newId } from '../../common/ids/typeid.js';
import { readBuildInfo } from '../../platform/lifecycle/build-info.js';
import { type Logger, Logs } from '../../platform/logging/logger.js';
import { familyOf } from '../../platform/tokens/caller.js';
import { TurnHandedOver } from '../turns/turns.api.js';
import { AskTools } from './ask-tools.service.js';
import { AskedTurns, type Asker } from './asked-turns.service.js';
import { isRequestNumber, messageIdOf, type RequestNumber } from './call-ids.js';
import { refusedIds, refusedParams } from './checked-params.js';
import { ExposedTools } from './exposed-tools.service.js';
import { serveLegacy } from './legacy-exchange.js';
import type { ProgressListener } from './turn-progress.js';

/** What came with one POST. */
export interface McpExchange {
  readonly asker: Asker;
  /** What the client sent as `Mcp-Session-Id`; clients of the newest protocol have none. */
  readonly mcpSession: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

interface CallParams {
  readonly name: string;
  readonly arguments?: unknown;
  readonly _meta?: { readonly progressToken?: RequestNumber | undefined } | undefined;
}

const INSTRUCTIONS =
  'Each tool ask_<agent> puts a message to an agent and returns its answer with a session_id; send that with the next message to go on. A call may take minutes.';

/**
 * The gateway as an MCP server. Every request gets an instance of its own, so no state of a connection is kept:
 * sessions of the gateway last, and any replica answers.
 */
@Injectable()
export class McpEndpoint implements OnModuleDestroy {
  private readonly logger: Logger;
  private readonly version = readBuildInfo().version;
  private readonly modern: ReturnType<typeof createMcpHandler>;

  constructor(
    private readonly asks: AskTools,
    private readonly asked: AskedTurns,
    private readonly exposed: ExposedTools,
    logs: Logs,
  ) {
    this.logger = logs.for('mcp::server');
    const onerror = (error: Error): void => this.refused(error);
    // Nothing is ever published: the list of tools is asked for again.
    this.modern = createMcpHandler((context) => this.serverFor(context), {
      ...{ legacy: 'reject' as const, responseMode: 'sse' as const, maxSubscriptions: 0, onerror },
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.modern.close();
  }

  /** Serves one POST. The turn that it begins continues without its caller, unless the caller cancels it. */
  async post(request: Request, exchange: McpExchange): Promise<Response> {
    const { body: parsedBody, asker } = exchange;
    const tooLong = refusedIds(parsedBody);
    if (tooLong !== undefined) return tooLong;
    const { tokenId, scopes } = asker.caller;
    const authInfo = { token: '', clientId: tokenId, scopes: [...scopes], extra: { exchange } };
    const options = { parsedBody, authInfo };
    if (!(await isLegacyRequest(request, parsedBody))) return this.modern.fetch(request, options);
    const refused = refusedParams(parsedBody);
    if (refused !== undefined) return refused;
    await this.cancelNamed(exchange);
    const server = this.serverFor({ era: 'legacy', authInfo, requestInfo: request });
    return serveLegacy(server, request, { ...options, isResumable: exchange.mcpSession !== undefined });
  }

  private refused(error: Error): void {
    this.logger.debug('a request was refused', { error: error.message });
  }

  private serverFor({ authInfo, era }: McpRequestContext): McpServer {
    const exchange = authInfo?.extra?.['exchange'] as McpExchange;
    const info = { name: 'agent-gateway', title: 'Agent Gateway', version: this.version };
    const server = new McpServer(info, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
    // Schemas of tool servers are not compiled here, as the high-level interface would.
    const { server: wire } = server;
    wire.onerror = (error) => this.refused(error);
    wire.setRequestHandler('tools/list', () => ({ tools: this.toolsFor(exchange) }));
    wire.setRequestHandler('tools/call', ({ params }, context) =>
      this.call(params, exchange, { era, context }),
    );
    return server;
  }

  /** A tool of the gateway with the same name as an agent's is not shown. */
  private toolsFor({ asker: { caller } }: McpExchange): Tool[] {
    const asks = this.asks.list(caller);
    const taken = new Set(asks.map(({ name }) => name));
    return [...asks, ...this.exposed.list(caller).filter(({ name }) => !taken.has(name))];
  }

  private call(
    { name, arguments: args, _meta: meta }: CallParams,
    exchange: McpExchange,
    { era, context }: { era: McpRequestContext['era']; context: ServerContext },
  ): Promise<CallToolResult> {
    const { asker } = exchange;
    const listener = listenerOf(context, meta?.progressToken);
    if (this.asks.has(name)) return this.ask(name, args, { exchange, context, era, listener });
    if (this.exposed.has(name, asker.caller))
      return this.exposed.call(name, args, asker, context.mcpReq.signal);
    const message = `There is no tool "${name.slice(0, 64)}" for this caller; tools/list has those there are.`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }

  private async ask(name: string, args: unknown, { exchange, context, era, listener }: AskTerms) {
    const { asker, mcpSession } = exchange;
    const { id, signal } = context.mcpReq;
    const messageId =
      mcpSession === undefined ? newId('msg') : messageIdOf(familyOf(asker.caller), mcpSession, id);
    // Since 2026-07-28 a client cancels by leaving; before, one that left may come back.
    const cancel = (): void => void this.cancel(messageId, exchange);
    if (era === 'modern') signal.addEventListener('abort', cancel, { once: true });
    try {
      return await this.asks.call(name, args, { asker, messageId, listener, gone: signal });
    } catch (error) {
      if (!(error instanceof TurnHandedOver)) throw error;
      return await handedOver(context, error);
    } finally {
      asker.key?.replayed();
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Clients of the older protocols cancel a call by naming it, in a request that any replica may get. */
  private async cancelNamed(exchange: McpExchange): Promise<void> {
    const { body, mcpSession, asker } = exchange;
    const { requestId } = (body['params'] ?? {}) as { requestId?: unknown };
    if (body['method'] !== 'notifications/cancelled' || mcpSession === undefined) return;
    if (!isRequestNumber(requestId)) return;
    await this.cancel(messageIdOf(familyOf(asker.caller), mcpSession, requestId), exchange);
  }

  private async cancel(messageId: string, { asker }: McpExchange): Promise<void> {
    try {
      await this.asked.cancel(messageId, asker.caller);
    } catch (error) {
      this.logger.debug('a call could not be cancelled', { error: String(error) });
    }
  }
}

interface AskTerms {
  readonly exchange: McpExchange;
  readonly context: ServerContext;
  readonly era: McpRequestContext['era'];
  readonly listener: ProgressListener | undefined;
}

function listenerOf(context: ServerContext, token: RequestNumber | undefined): ProgressListener | undefined {
  if (token === undefined) return undefined;
  return {
    seen: 0,
    report: (progress, message) => {
      const params = { progressToken: token, progress, message };
      // A caller that has gone away is not told.
      context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
    },
  };
}

/** A client that can come back does, and gets the answer from another replica; the others are told to ask again. */
async function handedOver({ http, mcpReq }: ServerContext, error: TurnHandedOver): Promise<CallToolResult> {
  if (http?.closeSSE === undefined)
    return { content: [{ type: 'text', text: error.message }], isError: true };
  http.closeSSE();
  if (!mcpReq.signal.aborted) await once(mcpReq.signal, 'abort');
  throw error;
}
